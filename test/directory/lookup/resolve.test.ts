import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { BatchResolveResponse, ResolveResponse } from "../../../schema/directory/resolve/response.ts"
import type { TestUser } from "../../fixtures/service.ts"
import { codeFor } from "../../transfers/transfer-service.ts"
import { bitcoin, type DirectoryService, ethereum, serveDirectory } from "../directory-service.ts"

const one = await serveDirectory({}, { peersPossible: true })
const other = await serveDirectory({}, { database: one.database, peersPossible: true })
const owner = await one.user()
const receiver = await one.user()
const otherEthereum = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
const solana = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"

const pathOf = (id: string, query: string) => `/emoji_id/${encodeURIComponent(id)}/resolve?${query}`
const get = (
  id: string,
  query: string,
  headers: Record<string, string> = {},
  service: DirectoryService = one,
) => service.call("GET", pathOf(id, query), { headers })
const register = async (id: string, ...insert: ReadonlyArray<{ tag: string; data: string }>) => {
  await one.register(id, owner)
  if (insert.length > 0) expect((await one.edit(id, owner, { insert })).status).toBe(200)
}
const eth = { tag: "0x1004", data: ethereum }
const usdcOnEthereum = "asset=USDC&network=ethereum"

const transfer = async (eid: string, from: TestUser, to: TestUser, clear_on_transfer = false) => {
  const body = { eid, email: to.email, clear_on_transfer }
  const { id } = (await one.call("POST", "/transfers", { token: from.token, body })).body
  for (const [user, action] of [
    [from, "sender_accept"],
    [to, "receiver_accept"],
  ] as const) {
    const code = await codeFor(one, user.email, id)
    const answer = await one.call("POST", `/transfers/${id}/${action}`, { token: user.token, body: { code } })
    expect(answer.status).toBe(200)
  }
}

describe("a send-ready answer", () => {
  it("has a checksummed address, the record and rule that selected it, the version and no warnings", async () => {
    await register("🐙🌊", eth, { tag: "0x1003", data: bitcoin })
    const { result } = (await one.lookup("🐙🌊")).body
    const answer = await get("🐙🌊", usdcOnEthereum)
    expect(answer.status).toBe(200)
    expect(Schema.is(ResolveResponse)(answer.body)).toBe(true)
    expect(answer.body).toEqual({
      status: true,
      asset: "USDC",
      network: "ethereum",
      address: ethereum,
      record: { tag: "0x1004", hash: result[0].hash },
      rule: "account_record",
      warnings: [],
      error: null,
      version: 2,
    })
    expect((await get("🐙🌊", "asset=BTC")).body).toMatchObject({ address: bitcoin, rule: "asset_record" })
  })

  it("has the same bytes and headers from the handler and from the cache, and supports If-None-Match", async () => {
    await register("🐙🔥", eth)
    const first = await get("🐙🔥", usdcOnEthereum)
    const cached = await get("🐙🔥", usdcOnEthereum)
    expect(cached.text).toBe(first.text)
    for (const name of ["etag", "cache-control", "content-type"])
      expect(cached.headers.get(name)).toBe(first.headers.get(name))
    const etag = first.headers.get("etag") ?? ""
    expect((await get("🐙🔥", usdcOnEthereum, { "if-none-match": etag })).status).toBe(304)
    await one.edit("🐙🔥", owner, { insert: [{ tag: "0x5001", data: "x" }] })
    for (let times = 0; times < 2; times++)
      expect((await get("🐙🔥", usdcOnEthereum, { "if-none-match": etag })).status).toBe(200)
  })

  it("is refused with a network name that is too long, also when the id is in the cache", async () => {
    await register("🐙🐙🌊", eth)
    const query = `asset=USDC&network=ethereum${"-".repeat(80)}`
    const before = await get("🐙🐙🌊", query)
    await one.lookup("🐙🐙🌊")
    expect([before.status, (await get("🐙🐙🌊", query)).status]).toEqual([400, 400])
  })

  it("is made from memory when the id is in the cache, also for errors and in a batch", async () => {
    await register("🐙🎈", eth)
    await one.lookup("🐙🎈")
    // A query would wait for the lock.
    await one.sql.begin(async (sql) => {
      await sql`lock table record, emoji_id in access exclusive mode`
      for (let times = 0; times < 2; times++)
        expect((await get("🐙🎈", usdcOnEthereum)).body.address).toBe(ethereum)
      expect((await get("🐙🎈", "asset=USDC&network=base")).body.code).toBe("no_address")
      const body = { items: [{ emoji_id: "🐙🎈", asset: "ETH" }] }
      const batch = await one.call("POST", "/emoji_id/resolve", { body })
      expect(batch.body.result[0].address).toBe(ethereum)
    })
  })

  it("needs no login, ignores a stale token, and accepts every spelling of the id, the asset and the network", async () => {
    await register("🐙❤️", eth)
    const { text } = await get("🐙❤️", usdcOnEthereum)
    const headers = { authorization: "Bearer stale", "content-type": "application/json" }
    for (const id of ["🐙❤", "🐙💚"])
      for (const query of ["asset=usdc&network=ERC-20", "network=eip155%3A1&asset=USDC"])
        expect((await get(id, query, headers)).text).toBe(text)
  })

  it("counts as a view of the id", async () => {
    await register("🐙🐢", eth)
    for (let times = 0; times < 3; times++) await get("🐙🐢", usdcOnEthereum)
    await expect
      .poll(async () => {
        const rows =
          await one.sql`select sum(views)::int as views from emoji_id_view where canonical = '🐙🐢'`
        return rows[0]?.["views"]
      })
      .toBe(3)
  })
})

describe("a request that has no send-ready answer", () => {
  it.each([
    ["no record for the asset", "asset=SOL", 404, "no_address"],
    ["a record for another network only", "asset=USDC&network=polygon", 404, "no_address"],
    ["a token without its network", "asset=USDC", 400, "network_required"],
    ["a network that the asset does not have", "asset=BTC&network=ethereum", 400, "unknown_network"],
    ["an unknown network", "asset=USDC&network=moon", 400, "unknown_network"],
    ["an unknown asset", "asset=NOPE", 400, "unknown_asset"],
    ["an asset that is not a ticker", "asset=%F0%9F%90%99", 400, "unknown_asset"],
    ["no asset", "network=ethereum", 400, "invalid_request"],
    ["a very long asset", `asset=${"A".repeat(600)}`, 400, "invalid_request"],
  ])("(%s) gets an error with a code and no address, cached or not", async (_name, query, status, code) => {
    const id = "🐙🍕"
    if ((await one.lookup(id)).status === 404) await register(id, eth)
    for (let times = 0; times < 2; times++) {
      const answer = await get(id, query)
      expect([answer.status, answer.body.code]).toEqual([status, code])
      expect(answer.body.error).toEqual(expect.any(String))
      expect(answer.body).not.toHaveProperty("address")
      expect(answer.text).not.toContain(ethereum.slice(2, 20))
    }
  })

  it("names the networks to choose from, or the other network that has an address, with the version", async () => {
    await register("🐙🍩", eth, { tag: "0x101b", data: solana })
    expect((await get("🐙🍩", "asset=USDC")).body.networks).toEqual(
      expect.arrayContaining(["ethereum", "solana", "tron", "polygon", "base"]),
    )
    const absent = await get("🐙🍩", "asset=USDC&network=tron")
    expect(absent.body).toMatchObject({
      warnings: [{ code: "other_networks", networks: ["ethereum", "solana"] }],
      version: 2,
    })
    const account = await get("🐙🍩", usdcOnEthereum)
    expect(account.body).toMatchObject({
      address: ethereum,
      warnings: [{ code: "other_networks", networks: ["solana"] }],
    })
  })

  it("because the id is not registered or not valid gets 404 or 400", async () => {
    expect((await get("🐙🦊", "asset=BTC")).status).toBe(404)
    expect((await get("abc", "asset=BTC")).status).toBe(400)
  })
})

describe("a send-ready answer in any process shows", () => {
  it("every acknowledged edit of the records", async () => {
    await register("🐙🎲")
    for (const address of [ethereum, otherEthereum, ethereum]) {
      await one.edit("🐙🎲", owner, { insert: [{ tag: "0x1004", data: address }] })
      for (const service of [other, one, other])
        expect((await get("🐙🎲", usdcOnEthereum, {}, service)).body.address).toBe(address)
    }
  })

  it("a warning for 24 hours after the id got a new owner, without an ETag", async () => {
    const id = "🐙🍀"
    await register(id, eth)
    for (const service of [one, other, other])
      expect((await get(id, usdcOnEthereum, {}, service)).body.warnings).toEqual([])
    await transfer(id, owner, receiver)
    await one.sql`update emoji_id set blocked_until = null where canonical = ${id}`
    for (const service of [one, other, other]) {
      const answer = await get(id, usdcOnEthereum, { "if-none-match": "*" }, service)
      expect([answer.status, answer.headers.get("etag")]).toEqual([200, null])
      expect(answer.body.warnings).toEqual([
        { code: "owner_changed", message: expect.any(String), changed_at: expect.any(String) },
      ])
      expect(Schema.is(ResolveResponse)(answer.body)).toBe(true)
    }
    const { owner_changed_at } = (await one.lookup(id)).body
    expect(owner_changed_at).toBe((await get(id, "asset=ETH")).body.warnings[0].changed_at)
    expect((await get(id, "asset=BTC")).body.warnings[0].code).toBe("owner_changed")

    await one.sql`update emoji_id set owner_changed_at = now() - interval '24 hours 1 second' where canonical = ${id}`
    await one.edit(id, receiver, { insert: [{ tag: "0x5001", data: "x" }] })
    for (const service of [one, other])
      expect((await get(id, usdcOnEthereum, {}, service)).body.warnings).toEqual([])
    expect((await one.lookup(id)).body).not.toHaveProperty("owner_changed_at")
  })

  it("the same warning for an id that was removed and registered again", async () => {
    const id = "🐙🍉"
    await register(id, eth)
    expect((await get(id, "asset=ETH")).body.warnings).toEqual([])
    await one.call("DELETE", `/emoji_id/${encodeURIComponent(id)}`, { token: one.admin.token })
    await one.register(id, receiver)
    await one.edit(id, receiver, { insert: [eth] })
    expect((await get(id, "asset=ETH")).body.warnings[0].code).toBe("owner_changed")
  })

  it("the same warning for a transfer that happened before the service stored its time", async () => {
    const id = "🐙🍓"
    await register(id)
    await one.sql`update emoji_id set blocked_until = now() + interval '1 hour' where canonical = ${id}`
    await one.edit(id, owner, { insert: [eth] })
    expect((await get(id, "asset=ETH")).body.warnings[0].code).toBe("owner_changed")
  })
})

describe("a batch of send-ready requests", () => {
  const post = (items: unknown) => one.call("POST", "/emoji_id/resolve", { body: { items } })

  it("gets one answer per item, in the order of the request, also for items that have no address", async () => {
    await register("🐙🍎", eth)
    const items = [
      { emoji_id: "🐙🍎", asset: "USDC", network: "ethereum" },
      { emoji_id: "🐙🍎", asset: "USDC" },
      { emoji_id: "🐙🍎", asset: "USDC", network: "tron" },
      { emoji_id: "🐙🦊", asset: "BTC" },
      { emoji_id: "no", asset: "BTC" },
      { emoji_id: "🐙🍎", asset: "eth", network: null },
    ]
    const answer = await post(items)
    expect(answer.status).toBe(200)
    expect(Schema.is(BatchResolveResponse)(answer.body)).toBe(true)
    const { result } = answer.body
    expect(result.map((each: { emoji_id: string }) => each.emoji_id)).toEqual(
      items.map((item) => item.emoji_id),
    )
    expect(result.map((each: { error: { code: string } | null }) => each.error?.code ?? null)).toEqual([
      null,
      "network_required",
      "no_address",
      "not_registered",
      "unsupported_emoji",
      null,
    ])
    expect(result[0]).toEqual({ emoji_id: "🐙🍎", ...(await get("🐙🍎", usdcOnEthereum)).body })
    expect(result[1].networks).toContain("tron")
    expect(result[2]).toMatchObject({ warnings: [{ networks: ["ethereum"] }], version: 2 })
    expect(result[5].address).toBe(ethereum)
  })

  it("accepts 1 to 100 items", async () => {
    const item = { emoji_id: "🐙🍎", asset: "ETH" }
    const statuses = [0, 100, 101].map(async (count) => (await post(Array(count).fill(item))).status)
    expect(await Promise.all(statuses)).toEqual([400, 200, 400])
  })
})
