import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { LookupResponse } from "../../../schema/directory/lookup.ts"
import { Bus } from "../../../src/cluster/bus.ts"
import { expectContract } from "../../fixtures/contract.ts"
import { exchange } from "../../fixtures/raw-http.ts"
import { bitcoin } from "../directory-service.ts"
import { id, path, serveLookups } from "./lookup-service.ts"

const { owner, service } = await serveLookups()

const get = (path: string, headers: Record<string, string> = {}) => service.call("GET", path, { headers })
/** Removes the ids from all caches, so that the next request is answered by the route's handler. */
const forget = (...canonicals: ReadonlyArray<string>) =>
  service.runtime.runPromise(Bus.use((bus) => bus.invalidate("emoji_id", canonicals)))
const tagsOf = (body: { result: ReadonlyArray<{ tag: string }> }) => body.result.map(({ tag }) => tag)

describe("a lookup", () => {
  it("returns status, records, error, stats and version without authentication", async () => {
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
    ["in canonical form, not percent-encoded", "🚀👋❤️"],
    ["without its variation selector", "🚀👋❤"],
    ["with a skin tone", "🚀👋🏿❤️"],
    ["with a heart of another colour", "🚀👋💚"],
    ["with upper-case escapes", encodeURIComponent(id)],
    ["with lower-case escapes", encodeURIComponent(id).toLowerCase()],
  ])("finds an id that is written %s", async (_, spelling) => {
    for (let times = 0; times < 3; times++) {
      const text = await exchange(
        Number(new URL(service.url).port),
        `GET /emoji_id/${spelling} HTTP/1.1\r\nHost: x\r\n\r\n`,
      )
      expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
      expect(text).toContain(bitcoin)
    }
  })

  it("of an unregistered id returns 404 and an object with only the member `error`, also from the cache", async () => {
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
  ])("of %s returns 400 and an error that names the unsupported character", async (spelling, named) => {
    const answer = await get(`/emoji_id/${spelling}`)
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body)).toEqual(["error"])
    expect(answer.body.error).toContain(named)
  })

  it("of seven emoji, or of malformed percent escapes, returns 400 and an object with only the member `error`", async () => {
    const seven = await get(`/emoji_id/${"🚀".repeat(7)}`)
    expect([seven.status, Object.keys(seven.body)]).toEqual([400, ["error"]])
    const port = Number(new URL(service.url).port)
    const broken = await exchange(port, "GET /emoji_id/%F0%9F HTTP/1.1\r\nHost: x\r\n\r\n")
    expect(broken).toMatch(/^HTTP\/1\.1 400 /)
    expect(Object.keys(JSON.parse(broken.split("\r\n\r\n")[1]!))).toEqual(["error"])
  })

  it("returns the request id that the caller sent, cached or not", async () => {
    for (let times = 0; times < 2; times++) {
      const answer = await get("/emoji_id/🌊", { "X-Request-Id": "mine-1" })
      expect(answer.headers.get("x-request-id")).toBe("mine-1")
    }
  })
})

describe("the query string of a lookup", () => {
  it.each([
    ["tags=0x1003", ["0x1003", "0x1003"]],
    ["tags=0x1003,0x1004", ["0x1003", "0x1003", "0x1004"]],
    ["tags=0x1003&tags=0x1004", ["0x1003", "0x1003", "0x1004"]],
    ["tags=0X1003%2C0x0005", ["0x1003", "0x1003", "0x0005"]],
    ["tags=0x0001", []],
    ["other=1&tags=0x0005", ["0x0005"]],
  ])("`%s` selects the records with these tags", async (query, expected) => {
    for (let times = 0; times < 3; times++) {
      const { body, status } = await get(`${path}?${query}`)
      expect(status).toBe(200)
      expectContract("LookupResponse", body)
      expect(tagsOf(body)).toEqual(expected)
    }
  })

  it("with an empty `tags` filter selects all records", async () => {
    expect(tagsOf((await get(`${path}?tags=`)).body)).toHaveLength(8)
  })

  it.each(["tags=BTC", "tags=1003", "tags=0x1003,", "tags=0x12345", "tags=%ff", "x=%00"])(
    "`%s` causes a 400 response, cached or not",
    async (query) => {
      const statuses = [(await get(`${path}?${query}`)).status]
      await forget(id)
      statuses.push((await get(`${path}?${query}`)).status)
      expect(statuses).toEqual([400, 400])
    },
  )
})

describe("a lookup by ticker or tag", () => {
  it.each([
    ["BTC", ["0x1003", "0x1003"]],
    ["btc", ["0x1003", "0x1003"]],
    ["ETH", ["0x1004"]],
    ["WOW", ["0x3fff"]],
    ["XMR", []],
    ["0x0005", ["0x0005"]],
  ])("with `%s` returns the matching records without stats", async (ticker, expected) => {
    for (let times = 0; times < 2; times++) {
      const { body, status } = await get(`${path}/${ticker}`)
      expect(status).toBe(200)
      expectContract("EidResponse", body)
      expect(tagsOf(body)).toEqual(expected)
      expect(body).not.toHaveProperty("stats")
    }
  })

  it("returns 400 for an invalid ticker or id, and 404 for an unregistered id", async () => {
    expect((await get(`${path}/${encodeURIComponent("no ticker")}`)).status).toBe(400)
    expect((await get("/emoji_id/x/BTC")).status).toBe(400)
    const missing = await get("/emoji_id/🐙🐶/BTC")
    expect([missing.status, Object.keys(missing.body)]).toEqual([404, ["error"]])
  })
})

describe("cached responses", () => {
  it.each(["", "?tags=0x1003", "?tags=0x0005,0x4001", "/BTC", "/0x0005", "/payment", "/payment?tags=0x1003"])(
    "for the path suffix %j equal the handler's response and headers, except for the view count",
    async (suffix) => {
      const seen = async () => {
        const { headers, status, text } = await get(`${path}${suffix}`)
        // The view count and its time are ignored, because the count may be read again between the requests.
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

  it("for an unregistered id equal the handler's response", async () => {
    await forget("🐙🦀")
    const answers = []
    for (let times = 0; times < 3; times++) {
      const { headers, status, text } = await get("/emoji_id/🐙🦀")
      answers.push({ status, text, caching: headers.get("cache-control"), type: headers.get("content-type") })
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  })
})

describe("a lookup with If-None-Match", () => {
  it("returns 304 while the id is unchanged, for every form of the header, cached or not", async () => {
    const etag = (await get(path)).headers.get("etag") ?? ""
    expect(etag).toMatch(/^W\/"\d+-\d+-\d+"$/)
    for (const held of [etag, etag.slice(2), `"x", ${etag}`, "*"]) {
      for (const suffix of ["", "?tags=0x1003", "/BTC", "/payment", "/payment?tags=0x1003"]) {
        await forget(id)
        for (let times = 0; times < 2; times++) {
          const answer = await get(`${path}${suffix}`, { "If-None-Match": held })
          expect([answer.status, answer.text]).toEqual([304, ""])
          expect(answer.headers.get("etag")).toBe(etag)
        }
      }
    }
  })

  it("returns 200 after the id has changed", async () => {
    await service.register("🐢", owner)
    const etag = (await get("/emoji_id/🐢")).headers.get("etag") ?? ""
    await service.edit("🐢", owner, { insert: [{ tag: "0x5001", data: "new" }] })
    const answer = await get("/emoji_id/🐢", { "If-None-Match": etag })
    expect(answer.status).toBe(200)
    expect(answer.headers.get("etag")).not.toBe(etag)
  })
})
