import fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import { emojis } from "../../../schema/directory/emoji.ts"
import { exchange } from "../../fixtures/raw-http.ts"
import type { TestUser } from "../../fixtures/service.ts"
import { type DirectoryService, serveDirectory } from "../directory-service.ts"

let service: DirectoryService
let owner: TestUser
beforeAll(async () => {
  service = await serveDirectory()
  owner = await service.user()
  await service.register("🐙", owner)
})

const emoji = fc.constantFrom(...emojis.slice(0, 40).map(({ canonical }) => canonical))
const odd = fc.constantFrom("\u200d", "\ufe0f", "🏿", "%", "/", "\0", " ", "é", "🏳️", "👨‍👩‍👧", "0x1003", "..")
const idText = fc
  .array(fc.oneof({ weight: 4, arbitrary: emoji }, odd, fc.string({ unit: "grapheme", maxLength: 3 })), {
    maxLength: 8,
  })
  .map((parts) => parts.join(""))
const encoded = idText.map((text) => encodeURIComponent(text.toWellFormed()))

const forms = [
  "",
  "/BTC",
  "/payment",
  "/metadata",
  "/rhythm",
  "/stats",
  "/json?keys=SvcPageData",
  "/confirm?tag=0x1003&data=a",
  "/resolve?asset=USDC&network=ethereum",
]
const settings = { numRuns: 60, interruptAfterTimeLimit: 12_000 }

describe("arbitrary input", () => {
  it("as an id never causes a 5xx response", async () => {
    await fc.assert(
      fc.asyncProperty(encoded, fc.constantFrom(...forms), async (text, form) => {
        if (text === "" || text === "." || text === "..") return
        const answer = await service.call("GET", `/emoji_id/${text}${form}`, { token: owner.token })
        expect(answer.status).toBeLessThan(500)
        if (form === "") expect([200, 400, 404, 401]).toContain(answer.status)
      }),
      settings,
    )
  })

  it("as raw bytes of the path neither causes a 5xx response nor stops the server", async () => {
    const port = Number(new URL(service.url).port)
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), async (bytes) => {
        const path = Buffer.from(bytes.filter((byte) => byte > 0x20 && byte !== 0x7f))
        const request = Buffer.concat([
          Buffer.from("GET /emoji_id/"),
          path,
          Buffer.from(" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
        ])
        expect(await exchange(port, request)).not.toMatch(/^HTTP\/1\.1 5/)
      }),
      { ...settings, numRuns: 40 },
    )
    expect((await service.lookup("🐙")).status).toBe(200)
  })

  it("as a `tags` filter gets the same status in two consecutive requests", async () => {
    const tags = fc.oneof(
      fc.constantFrom("0x1003", "0X1004", "1003", "", ",", "%2C", "%", "+", "0x"),
      fc.string({ maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed())),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(tags, { maxLength: 4 }), async (parts) => {
        const path = `/emoji_id/%F0%9F%90%99?tags=${parts.join(",")}`
        const first = await service.call("GET", path)
        const second = await service.call("GET", path)
        expect([200, 400]).toContain(first.status)
        expect(second.status).toBe(first.status)
      }),
      settings,
    )
  })

  it("as the body of an edit never causes a 5xx response", async () => {
    const record = fc.record(
      {
        tag: fc.oneof(
          fc.constantFrom("0x1003", "0x1004", "0x3fff", "0x0004", "0x6300", "0x5001"),
          fc.string(),
        ),
        data: fc.oneof(
          fc.string({ unit: "binary", maxLength: 60 }),
          fc.constantFrom("a|b|c|t", "||||||", "ABC|x"),
        ),
      },
      { requiredKeys: [] },
    )
    const body = fc.oneof(
      fc.record(
        {
          insert: fc.oneof(fc.array(record, { maxLength: 4 }), fc.jsonValue()),
          delete: fc.oneof(fc.array(fc.string(), { maxLength: 3 }), fc.jsonValue()),
          bypass_single_restrictions: fc.oneof(fc.boolean(), fc.jsonValue()),
          merkle_root: fc.oneof(fc.constant("0".repeat(64)), fc.string()),
          signature: fc.oneof(fc.constant("0".repeat(128)), fc.string()),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    )
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        const answer = await service.edit("🐙", owner, value)
        expect(answer.status).toBeLessThan(500)
        expect([200, 400, 422]).toContain(answer.status)
      }),
      settings,
    )
  })

  it("as data of the JSON store is either returned unchanged or rejected with 400", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ stringUnit: "binary" }), async (data) => {
        const path = "/emoji_id/%F0%9F%90%99/json/SvcPageData"
        const stored = await service.call("POST", path, { token: owner.token, body: { data } })
        expect([200, 400]).toContain(stored.status)
        if (stored.status !== 200) return
        const loaded = await service.call("GET", path)
        expect(loaded.body.data).toEqual(JSON.parse(JSON.stringify(data)))
      }),
      settings,
    )
  })

  it.each([
    "",
    "null",
    "{",
    "[]",
    '{"insert":[{"tag":"0x5001","data":"\\u0000"}]}',
    '{"insert":[{"tag":"0x5001","data":"\\ud800"}]}',
    '{"__proto__":{"insert":[]}}',
    `{"insert":${"[".repeat(5000)}${"]".repeat(5000)}}`,
    '{"delete":["a","a"],"delete":[]}',
  ])("as a malformed body (%#) never causes a 5xx response", async (rawBody) => {
    for (const [method, path] of [
      ["PATCH", "/emoji_id/%F0%9F%90%99"],
      ["POST", "/emoji_id/%F0%9F%90%99/json/SvcPageData"],
      ["POST", "/emoji_id/lookup"],
      ["POST", "/emoji_id/resolve"],
      ["POST", "/emoji_id/%F0%9F%90%99/generate_signature"],
      ["POST", "/emoji_id"],
    ] as const) {
      const answer = await service.call(method, path, { token: owner.token, rawBody })
      expect(answer.status).toBeLessThan(500)
    }
  })
})
