import { describe, expect, it } from "vitest"
import { password, register, totpCode, turnOnTotp } from "../accounts/person.ts"
import { makePartner } from "../partners/partner.ts"
import { authorizeAddress, locationOf, makeVisitor, newestLetterLink } from "./oauth/application.ts"
import { openOauthWorld } from "./oauth/oauth-service.ts"

const { service, app, owner } = await openOauthWorld()
const partner = await makePartner(service)

const loginForm = async () => {
  const { email, id, token } = await register(service)
  return { user: { email, id, token }, fields: { action: "password", email, password } }
}
const linkFor = async (email: string) => {
  const visitor = makeVisitor(service)
  const login = await visitor.get(authorizeAddress(app))
  await visitor.submit(login, { action: "link", email })
  const link = new URL(await newestLetterLink(service, email))
  return `${link.pathname}${link.search}`
}

describe("a login that is sent again before its answer is shown", () => {
  it("goes on where the first one led, for an application and for a partner", async () => {
    const { fields, user } = await loginForm()
    await service.register("🎲🎲🌊", user)
    await service.register("🎲🎲🔥", user)
    const home = `/partner/${partner.path}`
    for (const [address, shown] of [
      [authorizeAddress(app), "asks who you are"],
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

  it("goes on after a mailed link that the first one has used up", async () => {
    const user = await owner(2)
    const visitor = makeVisitor(service)
    const page = await visitor.get(await linkFor(user.email))
    const first = await visitor.submit(page, { action: "use" })
    const second = await visitor.submit(page, { action: "use" })
    expect([first.status, second.status]).toEqual([303, 303])
    const onwards = await visitor.get(second.headers.get("location") ?? "")
    expect(onwards.headers.get("location")).toBe(first.headers.get("location"))
    const shown = await visitor.get(onwards.headers.get("location") ?? "")
    expect(shown.text).toContain("asks who you are")
  })

  it("goes on after a code that the first one has used up, also behind a link", async () => {
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

  it("does nothing but show the page again when it is not the same one", async () => {
    const { fields } = await loginForm()
    const user = await owner(2)
    const visitor = makeVisitor(service)
    const linkPage = await visitor.get(await linkFor(user.email))
    const early = await visitor.get(authorizeAddress(app))
    await visitor.submit(early, fields)
    const chosen = await visitor.submit(early, { action: "select", emoji_id: user.ids[0]! })
    expect([chosen.status, locationOf(chosen).pathname]).toEqual([303, "/authorize"])
    // Somebody else has logged in meanwhile, and the link is still good: it asks again, and then it is used.
    const asked = await visitor.submit(linkPage, { action: "use" })
    const again = await visitor.get(asked.headers.get("location") ?? "")
    expect(again.text).toContain(user.email)
    expect((await visitor.submit(again, { action: "use" })).status).toBe(303)
    expect((await visitor.get(authorizeAddress(app))).text).toContain(user.email)
  })
})
