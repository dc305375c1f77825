import { describe, expect, it } from "vitest"
import { bareWarning, namedVectors, vectorsOf } from "../fixtures/vectors.ts"
import { freshId } from "../orders/shopper.ts"
import { serveDirectory } from "./directory-service.ts"

/** These tests send the vectors of schema/vectors to the running service. */

const service = await serveDirectory()
const owner = await service.user()
const pathOf = (id: string, rest = "") => `/emoji_id/${encodeURIComponent(id)}${rest}`
const get = (path: string) => service.call("GET", path)

const maxPerEdit = 100

/** Registers an id with these records, in this order. */
const registered = async (insert: ReadonlyArray<{ readonly tag: string; readonly data: string }>) => {
  const id = freshId()
  await service.register(id, owner)
  for (let from = 0; from < insert.length; from += maxPerEdit) {
    const part = insert.slice(from, from + maxPerEdit)
    const edit = await service.edit(id, owner, { bypass_single_restrictions: true, insert: part })
    if (edit.status !== 200) throw new Error(edit.text)
  }
  return id
}

describe("an emoji id in a path", () => {
  const isEncodable = (text: string) => text !== "" && text.isWellFormed() && !text.includes("\0")

  it.each(namedVectors("emoji-ids").filter(([, { input }]) => isEncodable(input)))(
    "is accepted or refused as the vector says: %s",
    async (_name, { error, input }) => {
      const { body, status } = await get(pathOf(input, "/rhythm"))
      expect([status, body.character]).toEqual([error === undefined ? 200 : 400, error?.character])
      expect(body.fields?.emoji_id[0].code).toBe(error?.code)
    },
  )

  it("is the same id in every spelling, and is listed in the formats of the vectors", async () => {
    const user = await service.user()
    const valid = vectorsOf("emoji-ids").flatMap(({ expected, input }) =>
      expected === undefined ? [] : [{ ...expected, input }],
    )
    const registrations = new Map(valid.map((one) => [one.canonical, one]))
    for (const { input } of registrations.values()) await service.register(input, user)
    for (const { input, shortname } of valid) {
      const { body } = await get(pathOf(input))
      expect([input, body.stats?.[0].key]).toEqual([input, shortname])
    }
    const listed = await service.call("GET", "/emoji_id/extended?limit=200", { token: user.token })
    const rows: ReadonlyArray<Record<string, string>> = listed.body.data ?? listed.body
    const found = rows.map((row) => [row["canonical_format"], row["chain_format"], row["shortname"]])
    expect(new Set(found.map(String))).toEqual(
      new Set(valid.map(({ canonical, chain, shortname }) => String([canonical, chain, shortname]))),
    )
  })
})

describe("a record", () => {
  it.each(namedVectors("record-formats"))(
    "is stored or refused as the vector says: %s",
    async (_name, { data, emoji_id, error, expected, tag }) => {
      const id = emoji_id ?? freshId()
      await service.register(id, owner)
      const { body, status } = await service.edit(id, owner, { insert: [{ tag, data }] })
      if (error === undefined) {
        expect(status).toBe(200)
        expect((await service.lookup(id)).body.result).toEqual([expected])
      } else if (error === "invalid_text") expect([status, body.code]).toEqual([400, "invalid_request"])
      else if (error === "invalid_tag")
        expect([status, body.fields["insert.0.tag"][0].code]).toEqual([400, error])
      else expect([status, body.fields.insert[0].code]).toEqual([422, error])
    },
  )
})

describe("a ticker or tag in a lookup", () => {
  it("finds the record of its tag, as the vectors say", async () => {
    const bitcoin = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
    const ethereum = "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"
    const dataOf: Readonly<Record<string, string>> = { "0x1003": bitcoin, "0x1004": ethereum }
    const own = new Map<string | undefined, { readonly tag: string; readonly data: string }>()
    for (const { expected } of vectorsOf("tickers")) {
      if (expected === null) continue
      const { tag, ticker } = expected
      own.set(ticker, { tag, data: tag === "0x3fff" ? `${ticker}|abc` : (dataOf[tag] ?? "abc") })
    }
    const id = await registered([...own.values()])
    for (const { expected, input } of vectorsOf("tickers")) {
      const { body, status } = await get(pathOf(id, `/${encodeURIComponent(input)}`))
      const record = own.get(expected?.ticker)
      expect([input, status]).toEqual([input, record === undefined ? 400 : 200])
      if (record !== undefined) expect(body.result).toEqual([expect.objectContaining(record)])
    }
  })

  it.each(namedVectors("tags"))("is accepted or refused as the vector says: %s", async (_name, vector) => {
    const id = pathOf(await registered([]))
    const { status } = await get(`${id}?tags=${encodeURIComponent(vector.input)}`)
    expect(status).toBe(vector.expected === null ? 400 : 200)
  })
})

describe("GET /emoji_id/{emoji_id}/resolve", () => {
  it.each(namedVectors("payment-selection"))("answers as the vector says: %s", async (_name, vector) => {
    const id = await registered(vector.records)
    const { result } = (await service.lookup(id)).body
    const query = new URLSearchParams({ asset: vector.asset })
    if (vector.network !== undefined) query.set("network", vector.network)
    const { body, headers, status } = await get(pathOf(id, `/resolve?${query}`))
    const warnings = body.warnings?.map(bareWarning)
    if (vector.error !== undefined) {
      const { code, networks } = body
      expect({ status, code, networks, warnings }).toEqual({
        networks: undefined,
        warnings: undefined,
        ...vector.error,
      })
      expect(headers.get("x-error-code")).toBe(vector.error.code)
      return
    }
    expect(status).toBe(200)
    const { address, asset, memo, network, rule } = body
    const record = result.findIndex((one: { hash: string }) => one.hash === body.record.hash)
    const found = { asset, network, address, ...(memo === undefined ? {} : { memo }), rule, record, warnings }
    expect(found).toEqual(vector.expected)
  })
})
