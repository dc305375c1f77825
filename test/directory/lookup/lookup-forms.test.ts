import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { BatchLookupResponse } from "../../../schema/directory/lookup.ts"
import { expectAnswer, expectContract } from "../../fixtures/contract.ts"
import { bitcoin, ethereum, otherBitcoin } from "../directory-service.ts"
import { id, path, serveLookups } from "./lookup-service.ts"

const { owner, service } = await serveLookups()

const get = (path: string, headers: Record<string, string> = {}) => service.call("GET", path, { headers })

describe("a lookup of payment addresses", () => {
  it("returns one address per category, preferably the default address, and one per token and network", async () => {
    const answer = await get(`${path}/payment`)
    expect(answer.status).toBe(200)
    expectContract("PaymentAddressResponse", answer.body)
    expect(answer.body.result["0x1003"]).toMatchObject({
      address: bitcoin,
      default: true,
      description: "main",
    })
    expect(answer.body.result["0x1004"].address).toBe(ethereum)
    expect(answer.body.result["0x6300:USDX:ETH"]).toMatchObject({
      address: ethereum,
      long_name: "US Dollar X",
    })
    const some = await get(`${path}/payment?tags=0x1003`)
    expect(Object.keys(some.body.result)).toEqual(["0x1003"])
  })

  it("needs no authentication and ignores an invalid token or API key", async () => {
    const { text } = await get(`${path}/payment`)
    const sent = [
      { authorization: `Bearer ${owner.token}` },
      { authorization: `Bearer ${owner.token.slice(0, -4)}AAAA` },
      { authorization: "Basic eDp5" },
      { "x-api-key": "of-another-service" },
    ]
    for (const headers of sent) {
      const answer = await get(`${path}/payment`, headers)
      expect([answer.status, answer.text]).toEqual([200, text])
    }
  })

  it("returns an error as an object with only the member `error`, cached or not", async () => {
    const refused = async (path: string) => {
      const { body, headers, status } = await get(path)
      return [status, Object.keys(body), headers.get("content-type"), headers.get("cache-control")]
    }
    const shape = [["error"], "application/json", "no-cache"]
    for (let times = 0; times < 2; times++) {
      expect(await refused("/emoji_id/🐙🐶/payment")).toEqual([404, ...shape])
      expect(await refused("/emoji_id/🐙🐶/payment?tags=0x1003")).toEqual([404, ...shape])
      expect(await refused("/emoji_id/abc/payment")).toEqual([400, ...shape])
      expect(await refused(`${path}/payment?tags=x`)).toEqual([400, ...shape])
    }
    const [payment, lookup] = [await get("/emoji_id/🐙🐶/payment"), await get("/emoji_id/🐙🐶")]
    expect(payment.text).toBe(lookup.text)
  })

  it("finds the id in every accepted spelling", async () => {
    const { text } = await get(`${path}/payment`)
    const spellings = ["🚀👋❤", "🚀👋🏿❤️", "🚀👋💚", encodeURIComponent(id).toLowerCase()]
    for (const spelling of spellings) {
      for (let times = 0; times < 2; times++) {
        expect((await get(`/emoji_id/${spelling}/payment`)).text).toBe(text)
      }
    }
  })

  it("answers HEAD with the headers of GET and without a body", async () => {
    const read = await get(`${path}/payment`)
    const head = await service.call("HEAD", `${path}/payment`)
    expect([head.status, head.text]).toEqual([200, ""])
    for (const name of ["etag", "cache-control", "content-type", "content-length"])
      expect(head.headers.get(name)).toBe(read.headers.get(name))
  })

  it("shows an edit of the records immediately", async () => {
    await service.register("🐢🌊", owner)
    const addresses = async () => (await get("/emoji_id/🐢🌊/payment")).body.result
    for (const data of [bitcoin, otherBitcoin]) {
      await service.edit("🐢🌊", owner, { insert: [{ tag: "0x1003", data }] })
      for (let times = 0; times < 2; times++) expect((await addresses())["0x1003"].address).toBe(data)
    }
  })
})

describe("a batch lookup", () => {
  it("returns one result per id in the order of the request, also for unregistered and invalid ids", async () => {
    const emoji_ids = [id, "🐙🐶", "no", "🌊", "🚀👋🏿💚"]
    const answer = await service.call("POST", "/emoji_id/lookup", { body: { emoji_ids } })
    expect(answer.status).toBe(200)
    expect(Schema.is(BatchLookupResponse)(answer.body)).toBe(true)
    const { result } = answer.body
    expect(result.map((one: { emoji_id: string }) => one.emoji_id)).toEqual(emoji_ids)
    expect(result.map((one: { status: boolean }) => one.status)).toEqual([true, false, false, true, true])
    expect(result[1].error.code).toBe("not_registered")
    expect(result[2].error.code).toBe("unsupported_emoji")
    expect(result[4].result).toEqual(result[0].result)
  })

  it("ignores an Idempotency-Key: a repeated request returns the current records, and no key is stored", async () => {
    const emoji_ids = ["🐙🎈"]
    const lookUp = async () => {
      const answer = await service.call("POST", "/emoji_id/lookup", {
        headers: { "Idempotency-Key": "same-key" },
        body: { emoji_ids },
      })
      return answer.body.result[0].result?.map(({ data }: { data: string }) => data)
    }
    await service.register(emoji_ids[0]!, owner)
    await service.edit(emoji_ids[0]!, owner, { insert: [{ tag: "0x1003", data: bitcoin }] })
    expect(await lookUp()).toEqual([bitcoin])
    await service.edit(emoji_ids[0]!, owner, { insert: [{ tag: "0x1003", data: otherBitcoin }] })
    expect(await lookUp()).toEqual([otherBitcoin])
    expect(await service.sql`select 1 from idempotency_key where key = 'same-key'`).toEqual([])
  })

  it("accepts 1 to 100 ids", async () => {
    const post = async (count: number) =>
      (await service.call("POST", "/emoji_id/lookup", { body: { emoji_ids: Array(count).fill("🌊") } }))
        .status
    expect([await post(0), await post(100), await post(101)]).toEqual([400, 200, 400])
  })
})

describe("a request to confirm a record", () => {
  it.each([
    ["0x1003", bitcoin, true],
    ["BTC", otherBitcoin, true],
    ["BTC", `${bitcoin}x`, false],
    ["0x1004", ethereum, true],
    ["ETH", ethereum.toLowerCase(), true],
    ["ETH", ethereum.slice(2), true],
    ["0x1003", ethereum, false],
    ["WOW", "wow-address", true],
    ["0x3fff", "OTHER|wow-address", false],
    ["0x0005", "Küche 🍳", true],
    ["0x0005", "Küche", false],
  ])("with tag or ticker %s and data %s returns `%s`", async (tag, data, expected) => {
    const answer = await get(`${path}/confirm?tag=${tag}&data=${encodeURIComponent(data)}`)
    expect(answer.body).toEqual({ result: expected, version: 2 })
  })

  it("requires a tag, data and a registered id", async () => {
    expect((await get(`${path}/confirm?tag=0x1003`)).status).toBe(400)
    expect((await get(`${path}/confirm?tag=%20&data=x`)).status).toBe(400)
    expect((await get("/emoji_id/🐙🐶/confirm?tag=BTC&data=x")).status).toBe(404)
  })
})

describe("a redirect", () => {
  it("goes to the link with the given name, or to the Redirect record if there is no such link", async () => {
    const to = async (query: string) => {
      const answer = await get(`/redirect?emoji_id=${encodeURIComponent(id)}${query}`)
      return [answer.status, answer.headers.get("location")]
    }
    expect(await to("&link=shop")).toEqual([302, "https://example.com/shop"])
    expect(await to("&link=other")).toEqual([302, "https://example.com/home"])
    expect(await to("")).toEqual([302, "https://example.com/home"])
  })

  it("returns 404 for an unregistered id or an id without links, and 400 for an invalid or missing id", async () => {
    expect((await get("/redirect?emoji_id=🌊")).status).toBe(404)
    expect((await get("/redirect?emoji_id=🐙🐶")).status).toBe(404)
    expect((await get("/redirect?emoji_id=x")).status).toBe(400)
    expect((await get("/redirect")).status).toBe(400)
  })
})

describe("public information about emoji", () => {
  it("includes the shape and the rhythm score of an unregistered id", async () => {
    const shape = await get("/emoji_id/🐙🐶🐙/metadata")
    expectContract("ShapeMatch", shape.body)
    expect(shape.body).toMatchObject({ shape: "Bookends", pattern: { value: "ABA" } })
    const rhythm = await get("/emoji_id/🐙🐶🐙/rhythm")
    expectAnswer("GET", "/emoji_id/{emoji_id}/rhythm", rhythm.body)
    expect(rhythm.body.rhythm).toBeGreaterThan(1)
    expect((await get("/emoji_id/x/rhythm")).body.code).toBe("unsupported_emoji")
  })

  it("includes a list of all 447 supported emoji", async () => {
    const answer = await get("/emoji")
    expectAnswer("GET", "/emoji", answer.body)
    expect(answer.body).toHaveLength(447)
  })
})
