import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { AppConfig } from "../../src/config/read-config.ts"
import { demoFacts } from "../../src/console/demo-facts.ts"
import { demoLines, seedDemo } from "../../src/demo/demo.ts"
import { demoIds } from "../../src/demo/ids.ts"
import { serve, testConfig } from "../fixtures/service.ts"

const service = await serve({ DEMO: "true" })
await service.runtime.runPromise(seedDemo)

const login = (email: string, password: string) =>
  service.call("POST", "/auth/token", { body: { email, password } })

describe("the demo data", () => {
  it("has users who can log in with the passwords in the startup banner", async () => {
    const shown = demoLines(testConfig({ DEMO: "true" })).flatMap((line) => {
      const [, role, email, password] = /^(\w+) +(\S+@\S+) \/ (\S+)$/.exec(line) ?? []
      return email === undefined ? [] : [{ role, email, password: password! }]
    })
    expect(shown).toHaveLength(3)
    for (const { email, password, role } of shown) {
      const { body, status } = await login(email, password)
      expect(status).toBe(200)
      expect((await service.call("GET", "/account", { token: body.access_token })).body.role).toBe(role)
    }
  })

  it("includes an administrator that the banner does not show if the operator has set the administrator's password", () => {
    const set = { ADMIN_EMAIL: "Admin@example.com", ADMIN_PASSWORD: "of the operator" }
    expect(demoLines(testConfig({ DEMO: "true", ...set })).join()).not.toContain("admin@example.com")
  })

  it("has ids whose records can be looked up", async () => {
    const { body } = await service.call("GET", `/emoji_id/${encodeURIComponent("🚀🌊🔥")}`)
    expect(body.result).toHaveLength(demoIds[0]!.records.length)
    const btc = await service.call("GET", `/emoji_id/${encodeURIComponent("🚀🌊🔥")}/BTC`)
    expect(btc.body.result).toHaveLength(1)
  })

  it("is offered on the home page: the ids, and on this machine the demo user, but nothing in production", async () => {
    const { text } = await service.call("GET", "/")
    expect(text).toContain("🚀🌊🔥")
    expect(text).toContain("alice-demo-1")
    const facts = (address: string, host: string) =>
      demoFacts({ address, host }).pipe(Effect.provideService(AppConfig, config))
    let config = testConfig({ DEMO: "true" })
    const ids = ["🚀🌊🔥", "🐙🌈🐙", "🦊🍕"]
    const run = service.runtime.runPromise
    const elsewhere = [
      ["203.0.113.7", "localhost"],
      ["127.0.0.1", "directory.example"],
    ] as const
    for (const [address, host] of elsewhere)
      expect(await run(facts(address, host))).toEqual({ ids, login: undefined })
    config = { ...config, production: true }
    expect(await run(facts("127.0.0.1", "localhost"))).toEqual({ ids: [], login: undefined })
  })

  it("has a discount code, a lootbox to buy and a lootbox to open", async () => {
    const { access_token: token } = (await login("alice@example.com", "alice-demo-1")).body
    const { data } = (await service.call("GET", "/lootboxes", { token })).body
    const boxes = Object.fromEntries(data.map((box: { status: string; id: string }) => [box.status, box.id]))
    expect(Object.keys(boxes).sort()).toEqual(["Available", "Owned"])
    const opened = await service.call("POST", `/lootboxes/${boxes.Owned}/open`, { token })
    expect(opened.body.yats).not.toEqual([])
    const items = [{ lootbox_id: boxes.Available }, { emoji_id: "🦊🎈🎲🦊" }]
    await service.call("POST", "/cart", { token, body: { items } })
    const full = await service.call("POST", "/cart/checkout", { token, body: { method: "WalletPay" } })
    const [code] = demoLines(testConfig({ DEMO: "true" })).flatMap((line) => line.match(/DEMO-\d+/) ?? [])
    const less = await service.call("POST", "/cart/promo_code", { token, body: { code } })
    expect(less.body.total_in_cents).toBeLessThan(full.body.total_in_cents)
  })

  it("has a partner organization with an owner and a budget for codes, and an OAuth client", async () => {
    const { body } = await login("bob@example.com", "bob-demo-1")
    const { data } = (await service.call("GET", "/organizations", { token: body.access_token })).body
    expect(data.map((organization: { partner_path: string }) => organization.partner_path)).toEqual([
      "demo-wallet",
    ])
    const budget = await service.call("GET", `/organizations/${data[0].id}/code_budget`, {
      token: body.access_token,
    })
    expect(budget.body.remaining_in_cents).toBe(10_000)
    const clients = await service.sql`select client_id from oauth_client`
    expect(clients.map((row) => row["client_id"])).toEqual(["demo-app"])
  })

  it("has a partner whose return page explains the result and hides the login of the user", async () => {
    const [organization] = await service.sql`select return_link as link from organization`
    expect(organization?.["link"]).toMatch(/\/demo\/partner$/)
    const query = new URLSearchParams({ action: "connect", eid: "🚀🌊🔥", refresh_token: "very-secret" })
    const { text } = await service.call("GET", `/demo/partner?${query}`)
    expect(text).toContain("You connected your emoji id")
    expect(text).toContain("What a real wallet does now")
    expect(text).not.toContain("very-secret")
    expect((await service.call("GET", "/demo/partner?status=aborted")).text).toContain("Nothing was changed")
  })

  it("is neither duplicated nor reset by a second seeding", async () => {
    const counts = () => service.sql`
      select (select count(*) from app_user) as users, (select count(*) from record) as records,
             (select count(*) from pubkey) as keys, (select count(*) from organization) as organizations`
    await service.sql`update app_user set first_name = 'Changed' where email = 'alice@example.com'`
    const before = await counts()
    await service.runtime.runPromise(seedDemo)
    expect(await counts()).toEqual(before)
    const [alice] = await service.sql`select first_name from app_user where email = 'alice@example.com'`
    expect(alice).toEqual({ first_name: "Changed" })
  })

  it("is completed by the next seeding if an earlier seeding was incomplete", async () => {
    await service.sql`delete from demo_part`
    await service.sql`delete from oauth_client`
    await service.runtime.runPromise(seedDemo)
    expect(await service.sql`select client_id from oauth_client`).toHaveLength(1)
    expect((await service.sql`select name from demo_part`).length).toBeGreaterThan(2)
  })
})
