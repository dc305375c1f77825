import { beforeAll, describe, expect, it } from "vitest"
import { bitcoin, type DirectoryService, serveDirectory } from "../directory/directory-service.ts"
import { exchange } from "../fixtures/raw-http.ts"
import { fixedTime, libraries, send } from "./send.ts"

const { dart, okhttp, urlSession } = libraries
const id = "☠️🐙☠️"
const path = `/emoji_id/${encodeURIComponent(id)}`
const empty = `/emoji_id/${encodeURIComponent("🌊🌊🐙")}`
const free = `/emoji_id/${encodeURIComponent("🦊🦊🦊🦊")}`
const standard =
  "4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2684Rge"
const sub = "888tNkZrPN6JsEgekjMnABU4TBzc2Dt29EPAvkRxbANsAnjyPbb3iQ1YBRk1UXcdRsiKc9dhwMVgN5S9cQUiyoogDavup3H"

let service: DirectoryService
beforeAll(async () => {
  service = await serveDirectory()
  const owner = await service.user()
  await service.register(id, owner)
  await service.register("🌊🌊🐙", owner)
  const edited = await service.edit(id, owner, {
    insert: [
      { tag: "0x1001", data: standard },
      { tag: "0x1002", data: `${sub}|Coffee` },
      { tag: "0x1003", data: bitcoin },
      { tag: "0x102C", data: "1NDyJtNTjmwk5xPNhjgAMu4HDHigtobu1s" },
    ],
  })
  expect(edited.status).toBe(200)
})

describe("a wallet that looks up one ticker", () => {
  it("gets records with tag and data, and no error", async () => {
    const answer = await send(service, "GET", `${path}/BTC`, dart)
    expect(answer.status).toBe(200)
    expect(answer.body.error).toBeNull()
    expect(answer.body.result).toEqual([{ tag: "0x1003", data: bitcoin, hash: expect.any(String) }])
  })

  it("gets an empty list if the id has no address of the coin", async () => {
    const answer = await send(service, "GET", `${path}/LTC`, dart)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ error: null, result: [] })
  })
})

describe("a wallet that asks for the payment addresses of its coin", () => {
  it("gets the subaddress and the standard address for two tags with an encoded comma", async () => {
    const answer = await send(service, "GET", `${path}/payment?tags=0x1001%2C0x1002`, dart)
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body.result).sort()).toEqual(["0x1001", "0x1002"])
    expect(answer.body.result["0x1002"].address).toBe(sub)
    expect(answer.body.result["0x1001"].address).toBe(standard)
  })

  it.each(["?tags", "?tags=", ""])("gets the addresses of all coins for the query %j", async (query) => {
    const answer = await send(service, "GET", `${path}/payment${query}`, dart)
    expect(answer.status).toBe(200)
    expect(answer.body.result["0x1003"].address).toBe(bitcoin)
    expect(answer.body.result["0x1001"].address).toBe(standard)
  })

  it("gets an empty object and no null if the id has no address of the coin", async () => {
    const answer = await send(service, "GET", `${path}/payment?tags=0x1019`, dart)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ status: true, result: {}, error: null })
  })

  it("gets the one address of a tag that it writes with upper-case digits", async () => {
    const answer = await send(service, "GET", `${path}/payment?tags=0x102C`, okhttp)
    expect(answer.status).toBe(200)
    expect(Object.values(answer.body.result)).toMatchObject([
      { address: "1NDyJtNTjmwk5xPNhjgAMu4HDHigtobu1s" },
    ])
  })

  it("gets for every address the members that a strict decoder requires", async () => {
    const { body } = await send(service, "GET", `${path}/payment`, urlSession)
    expect(body.status).toBe(true)
    for (const found of Object.values<Record<string, unknown>>(body.result)) {
      expect(found).toMatchObject({
        address: expect.any(String),
        category: expect.any(String),
        default: expect.any(Boolean),
      })
      for (const optional of ["description", "long_name", "settlement_network", "short_name", "signature"])
        expect(["string", "undefined"]).toContain(typeof found[optional])
    }
  })
})

describe("a wallet that looks up all records", () => {
  it("gets records, and statistics whose times have milliseconds", async () => {
    const { body } = await send(service, "GET", path, urlSession)
    expect(body).toMatchObject({ status: true, error: null })
    for (const found of body.result)
      expect(found).toEqual({
        tag: expect.stringMatching(/^0x[0-9a-f]{4}$/),
        data: expect.any(String),
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
    expect(body.stats).toEqual([
      {
        metric: expect.any(String),
        description: expect.any(String),
        key: expect.any(String),
        value: expect.any(Number),
        start_date: expect.stringMatching(fixedTime),
        finish_date: expect.stringMatching(fixedTime),
      },
    ])
  })

  it("gets the records of two tags that are separated by a comma as it is", async () => {
    const { body } = await send(service, "GET", `${path}?tags=0x1001,0x1002`, dart)
    expect(body.result.map(({ data }: { data: string }) => data)).toEqual([standard, `${sub}|Coffee`])
  })

  it("gets an empty list for an id without records", async () => {
    const answer = await send(service, "GET", empty, dart)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ status: true, result: [], error: null })
  })
})

describe("a wallet that looks up an id its user typed", () => {
  it.each([
    ["as unencoded UTF-8", `/emoji_id/${id}/payment`],
    ["with lower-case percent-encoding", `${path.toLowerCase()}/payment`],
    ["without variation selectors", `/emoji_id/${encodeURIComponent("☠🐙☠")}/payment`],
  ])("finds the id if it sends it %s", async (_how, sent) => {
    const text = `GET ${sent} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: ktor\r\n\r\n`
    const answer = await exchange(Number(new URL(service.url).port), text)
    expect(answer).toMatch(/^HTTP\/1\.1 200/)
    expect(answer).toContain(bitcoin)
  })

  it.each(["", "/payment", "/XMR"])(
    "gets 404 and one text in `error` if nobody owns the id, at %j",
    async (form) => {
      const answer = await send(service, "GET", `${free}${form}`, dart)
      expect(answer.status).toBe(404)
      expect(answer.body).toEqual({ error: expect.any(String) })
    },
  )

  it.each(["", "/payment", "/XMR"])(
    "gets 400 and one text in `error` if the text has other characters, at %j",
    async (form) => {
      const answer = await send(service, "GET", `/emoji_id/abc${form}`, dart)
      expect(answer.status).toBe(400)
      expect(answer.body).toEqual({ error: expect.any(String) })
    },
  )
})

describe("a wallet with headers that the lookup does not need", () => {
  it.each([
    [
      "a Content-Type without a body and a token that is no longer valid",
      { Authorization: "Bearer e30.e30.x" },
    ],
    ["an empty Bearer token", { Authorization: "Bearer " }],
    ["Basic credentials", { Authorization: "Basic dXNlcjpwYXNz" }],
    ["an API key that does not exist", { "x-api-key": "KEY" }],
    ["a Content-Length of 0", { "content-length": "0" }],
  ])("gets the addresses although it sends %s", async (_what, headers) => {
    const answer = await send(service, "GET", `${path}/payment`, { ...okhttp, ...headers })
    expect(answer.status).toBe(200)
    expect(answer.body.result["0x1003"].address).toBe(bitcoin)
  })

  it("gets the list of supported emoji as an array of texts", async () => {
    const answer = await send(service, "GET", "/emoji", { ...okhttp, Authorization: "Basic dXNlcjpwYXNz" })
    expect(answer.status).toBe(200)
    expect(answer.body).toContain("🐙")
    expect(new Set(answer.body.map((emoji: unknown) => typeof emoji))).toEqual(new Set(["string"]))
  })
})

describe("a wallet that shows the animation of an id", () => {
  const store = `${path}/json/VisualizerFileLocations`

  it("gets an object without members, and times, if the owner made none", async () => {
    const answer = await send(service, "GET", store, dart)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      data: {},
      is_locked: false,
      created_at: expect.stringMatching(fixedTime),
      updated_at: expect.stringMatching(fixedTime),
    })
  })

  it("gets the stored URLs as they were stored", async () => {
    const data = { gif: "https://v.example/a.gif", webm: "https://v.example/a.webm", v_video: "" }
    const stored = await service.call("POST", store, { token: service.admin.token, body: { data } })
    expect(stored.status).toBe(200)
    expect((await send(service, "GET", store, urlSession)).body.data).toEqual(data)
  })
})
