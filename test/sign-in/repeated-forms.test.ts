import { describe, expect, it } from "vitest"
import { password, register, totpCode, turnOnTotp } from "../accounts/person.ts"
import { makePartner } from "../partners/partner.ts"
import { authorizeAddress, locationOf, makeVisitor, newestMailLink } from "./oauth/application.ts"
import { startOauthService } from "./oauth/oauth-service.ts"

const { service, app, owner } = await startOauthService()
const partner = await makePartner(service)

const loginForm = async () => {
  const { email, id, token } = await register(service)
  return { user: { email, id, token }, fields: { action: "password", email, password } }
}
const linkFor = async (email: string) => {
  const visitor = makeVisitor(service)
  const login = await visitor.get(authorizeAddress(app))
  await visitor.submit(login, { action: "link", email })
  const link = new URL(await newestMailLink(service, email))
  return `${link.pathname}${link.search}`
}

describe("a login form that is sent twice", () => {
  it("redirects to the same page both times, in the login for an OAuth client and for a partner", async () => {
    const { fields, user } = await loginForm()
    await service.register("🎲🎲🌊", user)
    await service.register("🎲🎲🔥", user)
    const home = `/partner/${partner.path}`
    for (const [address, shown] of [
      [authorizeAddress(app), "Choose an emoji id for"],
      [home, "Get your emoji id"],
    ] as const) {
      const visitor = makeVisitor(service)
      const page = await visitor.get(address)
      const first = await visitor.submit(page, fields)
      const second = await visitor.submit(page, fields)
      expect([first.status, second.status]).toEqual([303, 303])
      expect(second.headers.get("location")).toBe(first.headers.get("location"))
      expect((await visitor.get(second.headers.get("location") ?? "")).text).toContain(shown)
    }
  })

  it("continues the login, although the first request has used the emailed link", async () => {
    const user = await owner(2)
    const visitor = makeVisitor(service)
    const page = await visitor.get(await linkFor(user.email))
    const first = await visitor.submit(page, { action: "use" })
    const second = await visitor.submit(page, { action: "use" })
    expect([first.status, second.status]).toEqual([303, 303])
    const redirected = await visitor.get(second.headers.get("location") ?? "")
    expect(redirected.headers.get("location")).toBe(first.headers.get("location"))
    const shown = await visitor.get(redirected.headers.get("location") ?? "")
    expect(shown.text).toContain("Choose an emoji id for")
  })

  it("continues the login, although the first request has used the two-factor code", async () => {
    const { fields, user } = await loginForm()
    await service.register("🎲🎲👑", user)
    const { secret } = await turnOnTotp(service, user.token)
    const visitor = makeVisitor(service)
    await visitor.submit(await visitor.get(authorizeAddress(app)), fields)
    const proveTwice = async (who: typeof visitor, address: string) => {
      const page = await who.get(address)
      const proof = { action: "code", code: totpCode(secret) }
      const first = await who.submit(page, proof)
      const second = await who.submit(page, proof)
      expect([first.status, second.status]).toEqual([303, 303])
      return who.get(second.headers.get("location") ?? "")
    }
    const shown = await proveTwice(visitor, authorizeAddress(app))
    expect(locationOf(shown).searchParams.get("code")).not.toBeNull()

    await service.sql`update two_factor set last_step = 0 where user_id = ${user.id}`
    const login = await service.call("POST", "/auth/token", { body: { email: user.email, password } })
    const handed = makeVisitor(service)
    const moved = await handed.get(`/magic_link?refresh_token=${login.body.refresh_token}`)
    const used = await handed.submit(await handed.get(moved.headers.get("location") ?? ""), { action: "use" })
    const done = await proveTwice(handed, used.headers.get("location") ?? "")
    expect(done.headers.get("location")).toBe("/magic_link/done")
  })

  it("is not processed if its page was loaded before the browser logged in, and redirects to the current page", async () => {
    const { fields } = await loginForm()
    const user = await owner(2)
    const visitor = makeVisitor(service)
    const linkPage = await visitor.get(await linkFor(user.email))
    const early = await visitor.get(authorizeAddress(app))
    await visitor.submit(early, fields)
    const chosen = await visitor.submit(early, { action: "select", emoji_id: user.ids[0]! })
    expect([chosen.status, locationOf(chosen).pathname]).toEqual([303, "/authorize"])
    // Another user has logged in after the page of the link was opened, and the link is still valid. So the page asks
    // again, and then the link is used.
    const asked = await visitor.submit(linkPage, { action: "use" })
    const again = await visitor.get(asked.headers.get("location") ?? "")
    expect(again.text).toContain(user.email)
    expect((await visitor.submit(again, { action: "use" })).status).toBe(303)
    expect((await visitor.get(authorizeAddress(app))).text).toContain(user.email)
  })
})
