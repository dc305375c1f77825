import { describe, expect, it } from "vitest"
import { normalizeEmail } from "../../../schema/accounts/credential-rules.ts"
import { login, mails, password, register, someEmail } from "../../accounts/person.ts"
import { serve } from "../../fixtures/service.ts"
import { grant, makeIds } from "../../transfers/transfer-service.ts"

const service = await serve()
const nextId = makeIds()

const spellings: ReadonlyArray<readonly [string, (email: string) => string]> = [
  ["an ideographic full stop", (email) => email.replace(".com", "。com")],
  ["a half-width ideographic full stop", (email) => email.replace(".com", "｡com")],
  ["a full-width dot", (email) => email.replace(".com", "．com")],
  ["a dot at the end of the domain", (email) => `${email}.`],
  ["a zero-width space", (email) => email.replace("@", "\u200b@")],
  ["a zero-width joiner in the domain", (email) => email.replace("example", "exam\u200dple")],
  ["a soft hyphen", (email) => email.replace("person", "per\u00adson")],
  ["full-width letters", (email) => email.replace("example", "ｅｘａｍｐｌｅ")],
  ["capital letters and spaces", (email) => ` ${email.toUpperCase()} `],
]

describe.each(spellings)("an email address with %s", (_what, spelled) => {
  it("is the same address: it cannot be registered again", async () => {
    const { email } = await register(service)
    const answer = await service.call("POST", "/users", { body: { email: spelled(email), password } })
    expect(answer.status).toBe(422)
    expect(answer.body.fields.email[0].code).toBe("uniqueness")
  })

  it("logs in to the account of the usual spelling", async () => {
    const { email } = await register(service)
    expect((await login(service, spelled(email))).status).toBe(200)
  })

  it("is registered under the usual spelling", async () => {
    const email = someEmail()
    const answer = await service.call("POST", "/users", { body: { email: spelled(email), password } })
    expect(answer.status).toBe(200)
    expect((await login(service, email)).status).toBe(200)
  })
})

describe("an account that was registered with another spelling before spellings were normalised", () => {
  /** Registers an account and stores another spelling of its address, as earlier releases did. */
  const earlier = async () => {
    const { email, id } = await register(service)
    const spelling = `${email}.`
    await service.sql`update app_user set email = ${spelling} where id = ${id}`
    return { id, email, spelling }
  }

  it("can still log in with its spelling", async () => {
    const { spelling } = await earlier()
    expect((await login(service, spelling)).status).toBe(200)
  })

  it("still gets links at its stored address", async () => {
    const { spelling } = await earlier()
    await service.call("POST", "/auth/magic_link", { body: { email: spelling } })
    expect((await mails(service, spelling)).map(({ kind }) => kind)).toEqual(["confirm_email"])
  })

  it("is not found by the usual spelling, and both accounts log in with their own spelling", async () => {
    const { email, spelling } = await earlier()
    expect((await login(service, email)).status).toBe(401)
    await service.call("POST", "/users", { body: { email, password: "another password" } })
    expect((await login(service, email, "another password")).status).toBe(200)
    expect((await login(service, spelling)).status).toBe(200)
    expect((await login(service, spelling, "another password")).status).toBe(401)
  })
})

it("a transfer to another spelling of an address goes to the account with the usual spelling", async () => {
  const [sender, receiver] = [await service.user(), await service.user()]
  const eid = nextId()
  await grant(service, sender, eid)
  const { body } = await service.call("POST", "/transfers", {
    token: sender.token,
    body: { eid, email: receiver.email.replace(".com", "。com") },
  })
  expect(body.recipient_id).toBe(receiver.id)
})

it("normalising an address twice gives the same address as normalising it once", () => {
  for (const typed of ["İ@EXAMPLE.com", "ﬀ@example。com..", "a\u200b@ｅ.com", "é@example.com"]) {
    const once = normalizeEmail(typed)
    expect(normalizeEmail(once)).toBe(once)
  }
})
