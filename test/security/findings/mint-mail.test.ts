import { describe, expect, it } from "vitest"
import { mails } from "../../accounts/person.ts"
import { serve, type TestUser } from "../../fixtures/service.ts"
import { grant, makeIds } from "../../transfers/transfer-service.ts"

const service = await serve()
const nextId = makeIds()
const account = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"

const sign = (user: TestUser, eid: string) =>
  service.call("POST", `/emoji_id/${encodeURIComponent(eid)}/generate_signature`, {
    token: user.token,
    body: { account },
  })
const ownerOfNewId = async () => {
  const owner = await service.user()
  const eid = nextId()
  await grant(service, owner, eid)
  return { owner, eid }
}

describe("the owner of an emoji id", () => {
  it("gets a mail for every mint signature, with the id, the account and the end of its validity", async () => {
    const { eid, owner } = await ownerOfNewId()
    const { expiry } = (await sign(owner, eid)).body
    await sign(owner, eid)
    const got = await mails(service, owner.email)
    expect(got.map(({ kind }) => kind)).toEqual(["mint_signature", "mint_signature"])
    const [, first] = got
    expect(first?.subject).toContain(eid)
    expect(first?.text).toContain(account)
    expect(first?.text).toContain(new Date(expiry * 1000).toISOString())
  })

  it("gets the mail at the confirmed address while a new address is not confirmed", async () => {
    const { eid, owner } = await ownerOfNewId()
    await service.call("PATCH", "/account", { token: owner.token, body: { email: `new-${owner.email}` } })
    expect((await sign(owner, eid)).status).toBe(200)
    expect((await mails(service, owner.email))[0]?.kind).toBe("mint_signature")
    const toNew = await mails(service, `new-${owner.email}`)
    expect(toNew.map(({ kind }) => kind)).not.toContain("mint_signature")
  })

  it("gets no mail if another user's request for a signature is refused", async () => {
    const { eid, owner } = await ownerOfNewId()
    const other = await service.user()
    expect((await sign(other, eid)).status).toBe(403)
    expect(await mails(service, owner.email)).toEqual([])
    expect(await mails(service, other.email)).toEqual([])
  })
})
