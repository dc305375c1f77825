import { Effect, ManagedRuntime } from "effect"
import { describe, expect, it } from "vitest"
import { cliServices } from "../../src/cli/services.ts"
import { AppConfig } from "../../src/config/read-config.ts"
import { demoLines, seedDemo } from "../../src/demo/demo.ts"
import { readDemoItems } from "../../src/demo/demo-item-store.ts"
import { renewDemoSecrets } from "../../src/demo/logins.ts"
import { refuseUsableDemo } from "../../src/demo/refuse-production-start.ts"
import { removeDemo } from "../../src/demo/removal.ts"
import { OauthClients } from "../../src/sign-in/oauth/oauth-client-store.ts"
import { serve, type TestService, testConfig } from "../fixtures/service.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"

const production = testConfig({ NODE_ENV: "production", RATE_LIMIT: "on" })
const onNetwork = { ...testConfig({ DEMO: "true" }), host: "0.0.0.0" }

const seeded = async (config = testConfig({ DEMO: "true" })) => {
  const service = await serve({ DEMO: "true" })
  await service.runtime.runPromise(seedDemo.pipe(Effect.provideService(AppConfig, config)))
  return service
}
const refusal = async ({ sql }: TestService, config = production) =>
  refuseUsableDemo(config, await readDemoItems(sql)).then(
    () => "",
    (error: Error) => error.message,
  )
const login = (service: TestService, email: string, password: string) =>
  service.call("POST", "/auth/token", { body: { email, password } })
const tokenOf = async (service: TestService, name: string): Promise<string> =>
  (await login(service, `${name}@example.com`, `${name}-demo-1`)).body.access_token
const remove = async (service: TestService) => {
  const runtime = ManagedRuntime.make(cliServices(testConfig(), service.database))
  cleanUp(() => runtime.dispose())
  const rows = await runtime.runPromise(removeDemo)
  return Object.fromEntries(rows.map(({ name, result }) => [name, result]))
}
const ownerOf = async ({ sql }: TestService, canonical: string) =>
  (await sql`select owner_id from emoji_id where canonical = ${canonical}`)[0]?.["owner_id"]
const boxesOf = async (service: TestService, token: string): Promise<Record<string, string>> => {
  const { data } = (await service.call("GET", "/lootboxes", { token })).body
  return Object.fromEntries(data.map((box: { status: string; id: string }) => [box.status, box.id]))
}
const secretOf = async (service: TestService, client_secret: string) => {
  const form = { grant_type: "authorization_code", code: "x", client_id: "demo-app", client_secret }
  const answer = await service.call("POST", "/token", {
    rawBody: new URLSearchParams({ ...form, redirect_uri: "http://localhost:8080/callback" }).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  })
  return answer.body.error === "invalid_client" ? "refused" : "accepted"
}

describe("the check for demo data at a production start", () => {
  it("fails with one line that lists the usable demo items and the command to remove them", async () => {
    const service = await seeded()
    expect(await refusal(service)).toBe(
      "demo data is still usable (logins admin@example.com, alice@example.com, bob@example.com; OAuth client demo-app; " +
        'codes DEMO-10, DEMO-FREE; 2 lootboxes): remove it with "npm run cli -- demo remove" before a production start',
    )
  })

  it("ignores demo items whose secret was changed, and demo items that were deactivated or deleted", async () => {
    const service = await seeded()
    const token = await tokenOf(service, "admin")
    const users = (await service.call("GET", "/users", { token })).body.data as ReadonlyArray<{
      id: string
      email: string
    }>
    const [alice, bob] = ["alice", "bob"].map((name) =>
      users.find(({ email }) => email === `${name}@example.com`),
    )
    await service.call("PATCH", `/users/${alice?.id}`, { token, body: { password: "of my own choice" } })
    await service.call("PATCH", `/users/${bob?.id}`, { token, body: { active: false } })
    await service.runtime.runPromise(OauthClients.use((clients) => clients.rotate("demo-app")))
    await service.sql`update code set deleted_at = now()`
    expect(await refusal(service)).toContain("(logins admin@example.com; 2 lootboxes)")
  })

  it("ignores the demo administrator if the configuration sets the administrator's password", async () => {
    const service = await seeded()
    const set = { ADMIN_EMAIL: "Admin@example.com", ADMIN_PASSWORD: "of the operator" }
    const config = testConfig({ NODE_ENV: "production", RATE_LIMIT: "on", ...set })
    expect(await refusal(service, config)).toContain("(logins alice@example.com, bob@example.com;")
  })

  it("also fails for demo passwords that are derived from the master secret, even if the recorded hash is outdated", async () => {
    const service = await seeded(onNetwork)
    await service.sql`update demo_item set secret_hash = 'as before the renewal'`
    expect(await refusal(service)).toContain("(logins admin@example.com, alice@example.com, bob@example.com;")
  })

  it("finds nothing in a database that never had demo data, even if a user has the email address of a demo user", async () => {
    const service = await serve()
    await service.user({ email: "alice@example.com" })
    expect(await readDemoItems(service.sql)).toEqual([])
  })
})

describe("the command `cli demo remove`", () => {
  it("removes all demo data while the service runs, and ends the sessions and API keys of the demo users", async () => {
    const service = await seeded()
    const token = await tokenOf(service, "admin")
    const key = (await service.call("POST", "/api_keys", { token, body: { name: "k" } })).body.api_key
    const byKey = () => service.call("GET", "/emoji_id", { headers: { "x-api-key": key } })
    expect((await byKey()).status).toBe(200)
    expect((await service.call("GET", "/users", { token })).status).toBe(200)
    await remove(service)
    await expect.poll(async () => (await service.call("GET", "/users", { token })).status).toBe(401)
    await expect.poll(async () => (await byKey()).status).toBe(401)
    for (const name of ["admin", "alice", "bob"])
      expect((await login(service, `${name}@example.com`, `${name}-demo-1`)).status).toBe(401)
    expect(await secretOf(service, "demo-app-secret")).toBe("refused")
    expect(await refusal(service)).toBe("")
    expect((await service.call("GET", `/emoji_id/${encodeURIComponent("🚀🌊🔥")}`)).status).toBe(404)
    expect(await service.sql`select 1 from emoji_id`).toHaveLength(0)
    expect(await service.sql`select canonical from claim where canonical not like 'lootbox:%'`).toEqual([])
    expect(await remove(service)).toEqual({})
  })

  it("keeps ids that real users own and ids that demo users bought", async () => {
    const service = await seeded()
    const real = await service.user()
    const token = await tokenOf(service, "alice")
    await service.call("POST", "/cart", { token, body: { items: [{ emoji_id: "🦊🎈🎲🦊" }] } })
    await service.call("POST", "/cart/checkout", { token, body: { method: "Free" } })
    await service.sql`update claim set owner_id = ${real.id}, holder = ${real.id} where canonical = '🐙🌈🐙'`
    await service.sql`update emoji_id set owner_id = ${real.id} where canonical = '🐙🌈🐙'`
    const rows = await remove(service)
    expect(rows["alice@example.com"]).toBe("removed; ids that stay reserved: 🦊🎈🎲🦊")
    expect(rows["🚀🌊🔥"]).toBe("released")
    expect(await ownerOf(service, "🐙🌈🐙")).toBe(real.id)
    expect(await ownerOf(service, "🦊🎈🎲🦊")).toBeDefined()
    expect(await ownerOf(service, "🚀🌊🔥")).toBeUndefined()
    expect(await service.sql`select 1 from entity where kind = 'order' and status = 'Paid'`).toHaveLength(1)
  })

  it("keeps a lootbox that was bought, and removes a lootbox that is in a pending order", async () => {
    const service = await seeded()
    const buyer = await service.user()
    const { Available: id = "" } = await boxesOf(service, buyer.token)
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ lootbox_id: id }] } })
    const order = await service.call("POST", "/cart/checkout", {
      token: buyer.token,
      body: { method: "WalletPay" },
    })
    expect(order.body.status).toBe("PendingPayment")
    expect((await remove(service))[id]).toBe("removed")
    const [state] = await service.sql`select status from entity where id = ${order.body.id}`
    expect(state?.["status"]).toBe("Cancelled")

    const other = await seeded()
    const owner = await other.user()
    const { Available: sold = "" } = await boxesOf(other, owner.token)
    await other.sql`update entity set status = 'Owned', owner_id = ${owner.id}, version = version + 1,
                           state = jsonb_set(jsonb_set(jsonb_set(state, '{value}', '"Owned"'),
                             '{context,ownerId}', to_jsonb(${owner.id}::text)), '{context,orderId}', '"an order"')
                     where id = ${sold}`
    expect(Object.keys(await remove(other))).not.toContain(sold)
    expect(await refusal(other)).toBe("")
    const [box] = await other.sql`select status from entity where id = ${sold}`
    expect(box?.["status"]).toBe("Owned")
  })

  it("ends a pending transfer of a demo id and releases the id", async () => {
    const service = await seeded()
    const token = await tokenOf(service, "alice")
    const real = await service.user()
    const sent = await service.call("POST", "/transfers", {
      token,
      body: { eid: "🚀🌊🔥", email: real.email },
    })
    expect(sent.status).toBe(200)
    expect((await remove(service))["🚀🌊🔥"]).toBe("released")
    const [transfer] = await service.sql`select status from entity where id = ${sent.body.id}`
    expect(transfer?.["status"]).toBe("Deleted")
  })

  it("keeps an account whose password was changed, and no longer treats the account as demo data", async () => {
    const service = await seeded()
    const token = await tokenOf(service, "bob")
    await service.call("PATCH", "/account", {
      token,
      body: { password: "of my own choice", current_password: "bob-demo-1" },
    })
    const rows = await remove(service)
    expect(rows["bob@example.com"]).toMatch(/^kept/)
    expect(rows["demo-wallet"]).toMatch(/^kept/)
    expect((await login(service, "bob@example.com", "of my own choice")).status).toBe(200)
    expect(await service.sql`select 1 from demo_item`).toHaveLength(0)
  })

  it("lets the next seeding create the demo data again", async () => {
    const service = await seeded()
    await remove(service)
    await service.runtime.runPromise(seedDemo)
    expect((await login(service, "alice@example.com", "alice-demo-1")).status).toBe(200)
    expect(await refusal(service)).toContain("2 lootboxes")
    expect(await ownerOf(service, "🚀🌊🔥")).toBeDefined()
  })
})

describe("demo secrets", () => {
  const shownPassword = (config: typeof onNetwork, email: string) =>
    demoLines(config)
      .map((line) => / \/ (\S+)$/.exec(line.includes(email) ? line : "")?.[1])
      .find((found) => found !== undefined) ?? ""
  const renew = (service: TestService, config: typeof onNetwork) =>
    service.runtime.runPromise(renewDemoSecrets.pipe(Effect.provideService(AppConfig, config)))

  it("are replaced by the secrets in the banner if HOST is a network address, and restored if HOST is a loopback address", async () => {
    const service = await seeded()
    const session = await tokenOf(service, "admin")
    await renew(service, onNetwork)
    expect((await login(service, "admin@example.com", "admin-demo-1")).status).toBe(401)
    expect(await secretOf(service, "demo-app-secret")).toBe("refused")
    expect((await service.call("GET", "/users", { token: session })).status).toBe(401)
    const password = shownPassword(onNetwork, "admin@example.com")
    expect(password).toMatch(/^[0-9a-f]{20}$/)
    expect((await login(service, "admin@example.com", password)).status).toBe(200)
    const [, secret = ""] = /client_secret (\S+)/.exec(demoLines(onNetwork).join("\n")) ?? []
    expect(await secretOf(service, secret)).toBe("accepted")
    await renew(service, testConfig({ DEMO: "true" }))
    expect((await login(service, "admin@example.com", "admin-demo-1")).status).toBe(200)
    expect((await login(service, "admin@example.com", password)).status).toBe(401)
    expect(await secretOf(service, "demo-app-secret")).toBe("accepted")
  })

  it("are derived from the master secret if HOST is a network address", async () => {
    const service = await seeded(onNetwork)
    expect((await login(service, "alice@example.com", "alice-demo-1")).status).toBe(401)
    const password = shownPassword(onNetwork, "alice@example.com")
    expect((await login(service, "alice@example.com", password)).status).toBe(200)
    const elsewhere = testConfig({ SECRET_KEYS: `k:${Buffer.alloc(32, 8).toString("base64url")}` })
    expect(shownPassword({ ...elsewhere, host: "0.0.0.0" }, "alice@example.com")).not.toBe(password)
  })

  it("do not replace a password that a user has set, and an unchanged secret does not end sessions", async () => {
    const service = await seeded()
    const token = await tokenOf(service, "alice")
    await renew(service, testConfig({ DEMO: "true" }))
    expect((await service.call("GET", "/account", { token })).status).toBe(200)
    await service.call("PATCH", "/account", {
      token,
      body: { password: "of my own choice", current_password: "alice-demo-1" },
    })
    await renew(service, onNetwork)
    expect((await login(service, "alice@example.com", "of my own choice")).status).toBe(200)
  })

  it.each(["127.0.0.1", "127.9.9.9", "localhost", "::1"])(
    "are the secrets of the README if HOST is %s",
    (host) => {
      expect(demoLines({ ...onNetwork, host }).join("\n")).toContain("alice-demo-1")
    },
  )
  it.each(["0.0.0.0", "::", "192.168.1.5", "127.example.com", "box.lan"])(
    "are not the secrets of the README if HOST is %s",
    (host) => {
      expect(demoLines({ ...onNetwork, host }).join("\n")).not.toMatch(/-demo-1|demo-app-secret/)
    },
  )
  it("are the secrets of the README with DEMO_PASSWORDS=published, even if HOST is 0.0.0.0", () => {
    const config = testConfig({ DEMO_PASSWORDS: "published" })
    expect(demoLines({ ...config, host: "0.0.0.0" }).join("\n")).toContain("alice-demo-1")
  })
})
