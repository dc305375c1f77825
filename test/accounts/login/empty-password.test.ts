import { describe, expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { makeVisitor } from "../../sign-in/oauth/application.ts"
import { login, mails, newestLink, password, register } from "../person.ts"

/** Most of these tests open the page of a mailed link in a browser without cookies. */
const service = await serve()

const openPeerLink = async (email: string) => {
  const link = new URL((await mails(service, email))[0]?.link ?? "")
  const visitor = makeVisitor(service)
  return { visitor, page: await visitor.get(link.pathname + link.search) }
}
const works = async (token: string) => (await service.call("GET", "/account", { token })).status === 200

describe("confirming the email of an account that has a password", () => {
  it.each([
    ["with an empty password", { action: "password", password: "" }],
    ["with an empty password and without a button name, as some clients do on Enter", { password: "" }],
    ["without a button name and without a password", {}],
    ["with the name of a button that the page does not have", { action: "use" }],
  ])("fails and changes nothing if the form is sent %s", async (_, fields: Record<string, string>) => {
    const person = await register(service)
    const { page, visitor } = await openPeerLink(person.email)
    const refused = await visitor.submit(page, fields)
    expect(refused.status).toBe(422)
    expect(refused.text).toContain("Enter the password you registered with.")
    expect(refused.headers.getSetCookie().join()).not.toContain("session=")
    expect(await works(person.token)).toBe(true)
    expect((await login(service, person.email)).status).toBe(200)

    expect((await visitor.submit(refused, { action: "password", password })).status).toBe(303)
    expect((await login(service, person.email)).status).toBe(200)
    const account = await service.call("GET", "/account", { token: person.token })
    expect(account.body.user.email_verified_at).toEqual(expect.any(String))
  })

  it("succeeds if the form is sent with the password but without a button name", async () => {
    const person = await register(service)
    const { page, visitor } = await openPeerLink(person.email)
    expect((await visitor.submit(page, { password })).status).toBe(303)
    expect(await works(person.token)).toBe(true)
  })

  it("shows a page whose first button keeps the password and whose second button discards the password", async () => {
    // The Enter key presses the first button, so this must be the button that keeps the password.
    const { page } = await openPeerLink((await register(service)).email)
    const values = [...page.text.matchAll(/<button[^>]* value="(\w+)"/g)].map(([, value]) => value)
    expect(values).toEqual(["password", "discard"])
  })

  it.each([
    ["omits the password", {}],
    ["sends an empty password", { password: "" }],
    ["sends `discard_credentials: false` without a password", { discard_credentials: false }],
  ])("fails in POST /auth/magic_link/consume if the client %s", async (_, more: Record<string, unknown>) => {
    const person = await register(service)
    const token = await newestLink(service, person.email)
    const consume = (body: Record<string, unknown>) =>
      service.call("POST", "/auth/magic_link/consume", { body: { token, ...body } })
    const refused = await consume(more)
    expect(refused.status).toBe(422)
    expect(refused.body.fields).toEqual({
      password: [{ code: "required", message: "Enter the password you registered with." }],
    })
    expect((await login(service, person.email)).status).toBe(200)
    expect((await consume({ password })).body).toMatchObject({ has_password: true })
    expect(await works(person.token)).toBe(true)
  })
})

it("a user who sets an empty first password gets an error and stays logged in", async () => {
  const person = await register(service, { password: undefined })
  const { page, visitor } = await openPeerLink(person.email)
  expect((await visitor.submit(page, {})).status).toBe(303)
  const welcome = await visitor.get("/magic_link/done")
  const refused = await visitor.submit(welcome, { action: "password", password: "" })
  expect(refused.status).toBe(422)
  expect(refused.text).toContain("Enter a password.")
  const done = await visitor.submit(refused, { action: "password", password })
  expect(done.status).toBe(303)
  expect((await visitor.get("/magic_link/done")).text).toContain("Your address is confirmed")
  expect((await login(service, person.email)).status).toBe(200)
})
