import { Schema } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { BatchLookupResponse, LookupResponse } from "../../schema/lookup.ts"
import { Bus } from "../../src/bus/bus.ts"
import { expectAnswer, expectContract } from "../fixtures/contract.ts"
import { exchange } from "../fixtures/raw-http.ts"
import type { TestUser } from "../fixtures/service.ts"
import {
  bitcoin,
  type DirectoryService,
  ethereum,
  otherBitcoin,
  serveDirectory,
} from "./directory-service.ts"

const id = "🚀👋❤️"
const path = `/emoji_id/${encodeURIComponent(id)}`
let service: DirectoryService
let owner: TestUser
beforeAll(async () => {
  service = await serveDirectory()
  owner = await service.user()
  await service.register(id, owner)
  await service.register("🌊", owner)
  await service.edit(id, owner, {
    bypass_single_restrictions: true,
    insert: [
      { tag: "0x1003", data: `${bitcoin}|main||t` },
      { tag: "0x1003", data: otherBitcoin },
      { tag: "0x1004", data: ethereum },
      { tag: "0x3fff", data: "WOW|wow-address" },
      { tag: "0x6300", data: "USDX|US Dollar X|ETH|0xabc|savings|sig" },
      { tag: "0x0005", data: "Küche 🍳" },
      { tag: "0x4001", data: "shop|https://example.com/shop" },
      { tag: "0x0004", data: "https://example.com/home" },
    ],
  })
})

const get = (path: string, headers: Record<string, string> = {}) => service.call("GET", path, { headers })
/** Every process forgets what it knows of the id, so that the handler answers and not the preparation. */
const forget = (...canonicals: ReadonlyArray<string>) =>
  service.runtime.runPromise(Bus.use((bus) => bus.invalidate("emoji_id", canonicals)))
const tagsOf = (body: { result: ReadonlyArray<{ tag: string }> }) => body.result.map(({ tag }) => tag)

describe("a lookup", () => {
  it("answers status, records, error, stats and version to anybody", async () => {
    const { body, headers, status } = await get(path)
    expect(status).toBe(200)
    expectContract("LookupResponse", body)
    expect(Schema.is(LookupResponse)(body)).toBe(true)
    expect(body).toMatchObject({ status: true, error: null, version: 2 })
    expect(tagsOf(body)).toHaveLength(8)
    expect(headers.get("content-type")).toBe("application/json")
    expect(headers.get("cache-control")).toBe("no-cache")
    expect(headers.get("x-request-id")).not.toBeNull()
    expect(body.stats).toHaveLength(1)
  })

  it.each([
    ["as it is, unencoded", "🚀👋❤️"],
    ["without its variation selector", "🚀👋❤"],
    ["in a skin tone", "🚀👋🏿❤️"],
    ["with another heart", "🚀👋💚"],
    ["in upper-case escapes", encodeURIComponent(id)],
    ["in lower-case escapes", encodeURIComponent(id).toLowerCase()],
  ])("finds an id written %s", async (_, spelling) => {
    for (let times = 0; times < 3; times++) {
      const text = await exchange(
        Number(new URL(service.url).port),
        `GET /emoji_id/${spelling} HTTP/1.1\r\nHost: x\r\n\r\n`,
      )
      expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
      expect(text).toContain(bitcoin)
    }
  })

  it("of an id that is not registered is 404 with one member, from memory too", async () => {
    for (let times = 0; times < 3; times++) {
      const answer = await get("/emoji_id/🐙🐙")
      expect(answer.status).toBe(404)
      expect(answer.body).toEqual({ error: expect.any(String) })
    }
  })

  it.each([
    ["%F0%9F%9A%80x", "x"],
    ["%F0%9F%8F%B3%EF%B8%8F", "🏳"],
    ["abc", "a"],
    ["%00", "U+0000"],
    ["%F0%9F%9A%80%20", "U+0020"],
  ])("of %s is 400 and names the character", async (spelling, named) => {
    const answer = await get(`/emoji_id/${spelling}`)
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body)).toEqual(["error"])
    expect(answer.body.error).toContain(named)
  })

  it("of seven emoji or of broken escapes is 400 with one member", async () => {
    const seven = await get(`/emoji_id/${"🚀".repeat(7)}`)
    expect([seven.status, Object.keys(seven.body)]).toEqual([400, ["error"]])
    const port = Number(new URL(service.url).port)
    const broken = await exchange(port, "GET /emoji_id/%F0%9F HTTP/1.1\r\nHost: x\r\n\r\n")
    expect(broken).toMatch(/^HTTP\/1\.1 400 /)
    expect(Object.keys(JSON.parse(broken.split("\r\n\r\n")[1]!))).toEqual(["error"])
  })

  it("keeps the caller's request id, prepared or not", async () => {
    for (let times = 0; times < 2; times++) {
      const answer = await get("/emoji_id/🌊", { "X-Request-Id": "mine-1" })
      expect(answer.headers.get("x-request-id")).toBe("mine-1")
    }
  })
})

describe("a filter", () => {
  it.each([
    ["tags=0x1003", ["0x1003", "0x1003"]],
    ["tags=0x1003,0x1004", ["0x1003", "0x1003", "0x1004"]],
    ["tags=0x1003&tags=0x1004", ["0x1003", "0x1003", "0x1004"]],
    ["tags=0X1003%2C0x0005", ["0x1003", "0x1003", "0x0005"]],
    ["tags=0x0001", []],
    ["other=1&tags=0x0005", ["0x0005"]],
  ])("%s leaves the matching records", async (query, expected) => {
    for (let times = 0; times < 3; times++) {
      const { body, status } = await get(`${path}?${query}`)
      expect(status).toBe(200)
      expectContract("LookupResponse", body)
      expect(tagsOf(body)).toEqual(expected)
    }
  })

  it("that is left empty leaves all", async () => {
    expect(tagsOf((await get(`${path}?tags=`)).body)).toHaveLength(8)
  })

  it.each(["tags=BTC", "tags=1003", "tags=0x1003,", "tags=0x12345", "tags=%ff", "x=%00"])(
    "%s is 400, prepared or not",
    async (query) => {
      const statuses = [(await get(`${path}?${query}`)).status]
      await forget(id)
      statuses.push((await get(`${path}?${query}`)).status)
      expect(statuses).toEqual([400, 400])
    },
  )
})

describe("the ticker form", () => {
  it.each([
    ["BTC", ["0x1003", "0x1003"]],
    ["btc", ["0x1003", "0x1003"]],
    ["ETH", ["0x1004"]],
    ["WOW", ["0x3fff"]],
    ["XMR", []],
    ["0x0005", ["0x0005"]],
  ])("%s answers that ticker's records without stats", async (ticker, expected) => {
    for (let times = 0; times < 2; times++) {
      const { body, status } = await get(`${path}/${ticker}`)
      expect(status).toBe(200)
      expectContract("EidResponse", body)
      expect(tagsOf(body)).toEqual(expected)
      expect(body).not.toHaveProperty("stats")
    }
  })

  it("refuses what is no ticker and what is no id", async () => {
    expect((await get(`${path}/${encodeURIComponent("no ticker")}`)).status).toBe(400)
    expect((await get("/emoji_id/x/BTC")).status).toBe(400)
    const missing = await get("/emoji_id/🐙🐶/BTC")
    expect([missing.status, Object.keys(missing.body)]).toEqual([404, ["error"]])
  })
})

describe("prepared answers", () => {
  it.each(["", "?tags=0x1003", "?tags=0x0005,0x4001", "/BTC", "/0x0005"])(
    "to %j equal the handler's to the byte, headers included",
    async (suffix) => {
      const seen = async () => {
        const { headers, status, text } = await get(`${path}${suffix}`)
        // The view count may be read again in between.
        const counted = text.replace(/"value":\d+|"finish_date":"[^"]+"/g, "")
        expect(Number(headers.get("content-length"))).toBe(Buffer.byteLength(text))
        const own = ["date", "x-request-id", "content-length"]
        const kept = [...headers].filter(([name]) => !own.includes(name))
        return { status, text: counted, headers: Object.fromEntries(kept) }
      }
      await forget(id)
      const first = await seen()
      expect([await seen(), await seen()]).toEqual([first, first])
    },
  )

  it("to an unknown id equal the handler's", async () => {
    await forget("🐙🦀")
    const answers = []
    for (let times = 0; times < 3; times++) {
      const { headers, status, text } = await get("/emoji_id/🐙🦀")
      answers.push({ status, text, caching: headers.get("cache-control"), type: headers.get("content-type") })
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  })
})

describe("revalidation", () => {
  it("is 304 while the id is as it was, prepared or not, however the tag is written", async () => {
    const etag = (await get(path)).headers.get("etag") ?? ""
    expect(etag).toMatch(/^W\/"\d+-\d+"$/)
    for (const held of [etag, etag.slice(2), `"x", ${etag}`, "*"]) {
      for (const suffix of ["", "?tags=0x1003", "/BTC"]) {
        await forget(id)
        for (let times = 0; times < 2; times++) {
          const answer = await get(`${path}${suffix}`, { "If-None-Match": held })
          expect([answer.status, answer.text]).toEqual([304, ""])
          expect(answer.headers.get("etag")).toBe(etag)
        }
      }
    }
  })

  it("is the whole answer once the id has changed", async () => {
    await service.register("🐢", owner)
    const etag = (await get("/emoji_id/🐢")).headers.get("etag") ?? ""
    await service.edit("🐢", owner, { insert: [{ tag: "0x5001", data: "new" }] })
    const answer = await get("/emoji_id/🐢", { "If-None-Match": etag })
    expect(answer.status).toBe(200)
    expect(answer.headers.get("etag")).not.toBe(etag)
  })
})

describe("the payment form", () => {
  it("takes the newest default, else the newest, and tokens by name and network", async () => {
    const answer = await service.call("GET", `${path}/payment`, { token: owner.token })
    expect(answer.status).toBe(200)
    expectContract("PaymentAddressResponse", answer.body)
    expect(answer.body.result["0x1003"]).toMatchObject({
      address: bitcoin,
      default: true,
      description: "main",
    })
    expect(answer.body.result["0x1004"].address).toBe(ethereum)
    expect(answer.body.result["0x6300:USDX:ETH"]).toMatchObject({
      address: "0xabc",
      long_name: "US Dollar X",
    })
    const some = await service.call("GET", `${path}/payment?tags=0x1003`, { token: owner.token })
    expect(Object.keys(some.body.result)).toEqual(["0x1003"])
  })

  it("needs a token and a registered id", async () => {
    expect((await get(`${path}/payment`)).status).toBe(401)
    const missing = await service.call("GET", "/emoji_id/🐙🐶/payment", { token: owner.token })
    expect(missing.status).toBe(404)
    const bad = await service.call("GET", `${path}/payment?tags=x`, { token: owner.token })
    expect(bad.status).toBe(400)
  })
})

describe("a batch", () => {
  it("answers each id in the order asked, known or not", async () => {
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

  it("takes 1 to 100 ids", async () => {
    const post = async (count: number) =>
      (await service.call("POST", "/emoji_id/lookup", { body: { emoji_ids: Array(count).fill("🌊") } }))
        .status
    expect([await post(0), await post(100), await post(101)]).toEqual([400, 200, 400])
  })
})

describe("a confirmation", () => {
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
  ])("of %s %s is %s", async (tag, data, expected) => {
    const answer = await get(`${path}/confirm?tag=${tag}&data=${encodeURIComponent(data)}`)
    expect(answer.body).toEqual({ result: expected, version: 2 })
  })

  it("needs a tag, data and a registered id", async () => {
    expect((await get(`${path}/confirm?tag=0x1003`)).status).toBe(400)
    expect((await get(`${path}/confirm?tag=%20&data=x`)).status).toBe(400)
    expect((await get("/emoji_id/🐙🐶/confirm?tag=BTC&data=x")).status).toBe(404)
  })
})

describe("a redirect", () => {
  it("leads to the named link, else to the Redirect record", async () => {
    const to = async (query: string) => {
      const answer = await get(`/redirect?emoji_id=${encodeURIComponent(id)}${query}`)
      return [answer.status, answer.headers.get("location")]
    }
    expect(await to("&link=shop")).toEqual([302, "https://example.com/shop"])
    expect(await to("&link=other")).toEqual([302, "https://example.com/home"])
    expect(await to("")).toEqual([302, "https://example.com/home"])
  })

  it("that leads nowhere is 404", async () => {
    expect((await get("/redirect?emoji_id=🌊")).status).toBe(404)
    expect((await get("/redirect?emoji_id=🐙🐶")).status).toBe(404)
    expect((await get("/redirect?emoji_id=x")).status).toBe(400)
    expect((await get("/redirect")).status).toBe(400)
  })
})

describe("what an id's letters tell", () => {
  it("is the same for ids that nobody has", async () => {
    const shape = await get("/emoji_id/🐙🐶🐙/metadata")
    expectContract("ShapeMatch", shape.body)
    expect(shape.body).toMatchObject({ shape: "Bookends", pattern: { value: "ABA" } })
    const rhythm = await get("/emoji_id/🐙🐶🐙/rhythm")
    expectAnswer("GET", "/emoji_id/{emoji_id}/rhythm", rhythm.body)
    expect(rhythm.body.rhythm).toBeGreaterThan(1)
    expect((await get("/emoji_id/x/rhythm")).body.code).toBe("unsupported_emoji")
  })

  it("is made of the emoji of the set", async () => {
    const answer = await get("/emoji")
    expectAnswer("GET", "/emoji", answer.body)
    expect(answer.body).toHaveLength(447)
  })
})
