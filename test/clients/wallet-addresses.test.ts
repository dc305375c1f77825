import { describe, expect, it } from "vitest"
import { bitcoin, ethereum, serveDirectory } from "../directory/directory-service.ts"
import { expectContract } from "../fixtures/contract.ts"
import { request } from "../fixtures/service.ts"
import { addressJson, makePartner } from "../partners/partner.ts"

/** These tests send the requests of existing wallets that read and write the addresses of an emoji id. */

const service = await serveDirectory()
const owner = await service.user()
const partner = await makePartner(service)
const id = "🦊🌊🔥"
await service.register(id, owner)
const path = `/emoji_id/${encodeURIComponent(id)}`

const solanaKey = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"
const hexKey = `0x${"AB".repeat(32)}`
const storedHexKey = "ab".repeat(32)

/** Wallets built from the generated client send these headers on every request. The token is often an old one. */
const walletHeaders = {
  Accept: "application/json",
  "Content-Type": "application/json",
  Authorization: "Bearer eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.c3RhbGU",
  "User-Agent": "Swagger-Codegen/1.0.0/kotlin",
}
const get = (path: string, headers: Record<string, string> = walletHeaders) =>
  service.call("GET", path, { headers })
const insert = (...records: ReadonlyArray<{ tag: string; data: string }>) =>
  service.edit(id, owner, { insert: records })

describe("a wallet that uses chain public keys as addresses", () => {
  it("stores them and reads them from the payment lookup, like any other address", async () => {
    const saved = await insert(
      { tag: "0x0101", data: hexKey },
      { tag: "0x0103", data: hexKey },
      { tag: "0x0104", data: solanaKey },
    )
    expect(saved.status).toBe(200)
    for (let times = 0; times < 2; times++) {
      const answer = await get(`${path}/payment?tags=0x0101,0x0103,0x0104`)
      expect(answer.status).toBe(200)
      expectContract("PaymentAddressResponse", answer.body)
      expect(answer.body.result).toEqual({
        "0x0101": { address: storedHexKey, category: "0x0101", default: false },
        "0x0103": { address: storedHexKey, category: "0x0103", default: false },
        "0x0104": { address: solanaKey, category: "0x0104", default: false },
      })
    }
    expect((await get(`${path}/payment`)).body.result["0x0101"].address).toBe(storedHexKey)
  })

  it("reads the key that was written last", async () => {
    await insert({ tag: "0x0101", data: "00ff" })
    expect((await get(`${path}/payment`)).body.result["0x0101"].address).toBe("00ff")
  })

  it("does not get a value that an earlier release stored without checking its form", async () => {
    await service.register("🦊🐢", owner)
    await service.sql`insert into record (canonical, hash, tag, data) values
      ('🦊🐢', 'h1', ${0x0103}, 'my key'), ('🦊🐢', 'h2', ${0x0104}, '0OIl'), ('🦊🐢', 'h3', ${0x0103}, '0xAB')`
    expect((await get(`/emoji_id/${encodeURIComponent("🦊🐢")}/payment`)).body.result).toEqual({
      "0x0103": { address: "ab", category: "0x0103", default: false },
    })
  })

  it("gets 422 for a key that is not hex or base58", async () => {
    const refused = await insert({ tag: "0x0103", data: "not hex" }, { tag: "0x0104", data: "0OIl" })
    expect(refused.status).toBe(422)
    expect(refused.body.fields.insert.map(({ code }: { code: string }) => code)).toEqual([
      "invalid_hex",
      "invalid_base58",
    ])
  })

  it.each(["", "/link-email", "/manage"])(
    "sends them in a partner link to /partner/{path}%s",
    async (flow) => {
      const url = `${partner.home}${flow}?addresses=${encodeURIComponent(`0x0101=${hexKey}|0x106E=${ethereum}`)}`
      expect((await request(url, "GET")).status).toBe(303)
      const json = addressJson([{ "0x0101": `${hexKey}|My wallet` }, { "260": solanaKey }])
      const encoded = encodeURIComponent(json)
      expect((await request(`${partner.home}${flow}?address_json=${encoded}`, "GET")).status).toBe(303)
    },
  )
})

describe("an older wallet that sends a 0x3fff record without a ticker", () => {
  const bare = { tag: "0x3fff", data: ethereum }
  const explanation =
    /0x3fff must name the currency before the address: TICKER\|ADDRESS, for example KAS\|kaspa:/

  it("gets an error that explains the expected form, in PATCH and in linked_tags", async () => {
    const edited = await insert(bare)
    expect([edited.status, edited.body.fields.insert[0].message]).toEqual([
      422,
      expect.stringMatching(explanation),
    ])
    const stored = await service.call("POST", `${path}/json/SvcPageData`, {
      token: owner.token,
      body: { data: {}, linked_tags: [bare] },
    })
    expect([stored.status, stored.body.fields.linked_tags[0].message]).toEqual([
      422,
      expect.stringMatching(explanation),
    ])
  })

  it("gets a page that explains it, for a partner link", async () => {
    for (const query of [
      `addresses=0x3fff=${ethereum}`,
      `address_json=${encodeURIComponent(addressJson([{ "0x3fff": `${ethereum}|My wallet` }]))}`,
    ]) {
      const { status, text } = await request(`${partner.home}?${query}`, "GET")
      expect([status, text]).toEqual([400, expect.stringMatching(explanation)])
    }
  })

  it("succeeds with the form that the error explains, also in a partner link", async () => {
    expect((await insert({ tag: "0x3fff", data: "KAS|kaspa:abc" })).status).toBe(200)
    const query = `addresses=${encodeURIComponent(`0x3fff=KAS|kaspa:abc|0x1003=${bitcoin}`)}`
    expect((await request(`${partner.home}?${query}`, "GET")).status).toBe(303)
  })
})

describe("a wallet that asks where to send an asset", () => {
  it("gets an address that it can paste, with a stale token and in every spelling of the id", async () => {
    await insert({ tag: "0x1004", data: ethereum.toLowerCase() })
    expect((await get(path)).body.result).toContainEqual(
      expect.objectContaining({ tag: "0x1004", data: ethereum.slice(2).toLowerCase() }),
    )
    for (const spelling of [path, `/emoji_id/${id}`]) {
      const { body, status } = await get(`${spelling}/resolve?asset=USDC&network=ethereum`)
      expect([status, body.address, body.rule, body.warnings]).toEqual([200, ethereum, "account_record", []])
      expect(body.record).toEqual({ tag: "0x1004", hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
    }
  })

  it("gets no address for another chain, but the name of the network that has one", async () => {
    const { body, status } = await get(`${path}/resolve?asset=USDC&network=tron`)
    expect([status, body.code, body.address]).toEqual([404, "no_address", undefined])
    expect(body.warnings).toMatchObject([{ code: "other_networks", networks: ["ethereum"] }])
  })

  it("gets the destination tag separately from the address", async () => {
    await insert({ tag: "0x1014", data: "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh?dt=42" })
    const { body } = await get(`${path}/resolve?asset=XRP`)
    expect([body.address, body.memo]).toEqual(["rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", "42"])
  })
})

describe("a page of links that sends its visitors through /redirect", () => {
  it("reaches a plain web-link record by its URL or host, and never a site that is not in the records", async () => {
    await insert(
      { tag: "0x4001", data: "https://shop.example/start?x=1" },
      { tag: "0x0004", data: "https://home.example/" },
    )
    const to = async (link: string) => {
      const query = `emoji_id=${encodeURIComponent(id)}&link=${encodeURIComponent(link)}`
      const { headers, status } = await get(`/redirect?${query}`)
      return [status, headers.get("location")]
    }
    expect(await to("https://shop.example/start?x=1")).toEqual([302, "https://shop.example/start?x=1"])
    expect(await to("shop.example")).toEqual([302, "https://shop.example/start?x=1"])
    for (const link of [
      "https://evil.example/",
      "//evil.example",
      "javascript:alert(1)",
      "https://shop.example@evil.example/",
    ])
      expect(await to(link)).toEqual([302, "https://home.example/"])
  })

  it("reaches the plain web-link record of an id that has no Redirect record", async () => {
    await service.register("🦊🍕", owner)
    await service.edit("🦊🍕", owner, { insert: [{ tag: "0x4001", data: "https://only.example" }] })
    const query = `emoji_id=${encodeURIComponent("🦊🍕")}`
    for (const link of ["", "&link=", "&link=website"])
      expect((await get(`/redirect?${query}${link}`)).headers.get("location")).toBe("https://only.example/")
  })
})
