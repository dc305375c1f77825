import { readdirSync, readFileSync } from "node:fs"
import { blake2b } from "@noble/hashes/blake2.js"
import { describe, expect, it } from "vitest"
import folds from "../../schema/directory/data/emoji-folds.json" with { type: "json" }
import supported from "../../schema/directory/data/emoji-set.json" with { type: "json" }
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import {
  normalizeRecord,
  RecordRefused,
  recordDataBytes,
  recordHash,
} from "../../schema/directory/records/record.ts"
import {
  findRecordClass,
  formatTag,
  parseTag,
  secureTags,
  tags,
} from "../../schema/directory/records/record-tag.ts"
import { toCandidates } from "../../schema/directory/resolve/candidate.ts"
import { findNetwork } from "../../schema/directory/resolve/network.ts"
import { ResolveRefused, resolve } from "../../schema/directory/resolve/resolve.ts"
import { nativeTickers, parseTicker } from "../../schema/directory/ticker.ts"
import { merkleRoot } from "../../src/directory/merkle.ts"
import { namedVectors, type VectorFile, vectorsOf } from "../fixtures/vectors.ts"

const folder = new URL("../../schema/vectors/", import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith(".json"))

describe("the files of schema/vectors", () => {
  it.each(files)("have a description, and vectors with different names: %s", (file) => {
    const { description, vectors } = JSON.parse(readFileSync(new URL(file, folder), "utf8"))
    expect(description).toMatch(/\.$/)
    const names = vectors.map(({ name }: { name: string }) => name)
    expect(names.length).toBeGreaterThan(5)
    expect(new Set(names).size).toBe(names.length)
  })

  it("are all described in README.md", () => {
    const text = readFileSync(new URL("README.md", folder), "utf8")
    expect(files.filter((file) => !text.includes(`[${file}](${file})`))).toEqual([])
  })
})

/**
 * A second implementation: it splits at grapheme clusters, which suffices for valid ids, and removes everything that the
 * canonical form does not have.
 */
const canonicalByGraphemes = (text: string): string => {
  const bare = (emoji: string) => emoji.replaceAll(/[\u{fe0f}\u{1f3fb}-\u{1f3ff}]/gu, "")
  const known = new Map(supported.map((emoji) => [bare(emoji), emoji]))
  for (const [emoji, others] of Object.entries(folds))
    for (const other of others) known.set(bare(other), emoji)
  known.set("\u{1faf1}\u200d\u{1faf2}", "🤝")
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => known.get(bare(segment))).join("")
}

describe("the emoji id", () => {
  it.each(namedVectors("emoji-ids"))("of the vector: %s", (_name, { error, expected, input }) => {
    const id = parseEmojiId(input)
    if (id._tag === "EmojiIdRefused") {
      expect({ code: id.code, character: id.character }).toEqual({ character: undefined, ...error })
      return
    }
    const { canonical, chain, shortname } = id
    expect({ canonical, chain, display: id.display(), shortname }).toEqual(expected)
    expect(canonicalByGraphemes(input)).toBe(canonical)
    expect(parseEmojiId(chain)).toMatchObject({ canonical })
  })
})

describe("the stored form", () => {
  const operatorsOwn = (tag: string) => secureTags.has(parseTag(tag) ?? -1)

  it.each(namedVectors("record-formats").filter(([, { tag }]) => !operatorsOwn(tag)))(
    "of the record of the vector: %s",
    (_name, { data, emoji_id, error, expected, tag }) => {
      const id = emoji_id === undefined ? undefined : parseEmojiId(emoji_id)
      if (id?._tag === "EmojiIdRefused") throw new Error(id.message)
      const record = normalizeRecord({ tag, data }, id)
      expect(record instanceof RecordRefused ? record.code : record).toEqual(error ?? expected)
    },
  )
})

/** Second implementations of the rules that the descriptions of the files state. */
const hash = (bytes: Uint8Array) => Buffer.from(blake2b(bytes, { dkLen: 32 }))
const dataBytes = (tag: number, data: string): Buffer => {
  if (tag === tags.chainPubkey || tag === tags.hexPubkey) return Buffer.from(data, "hex")
  return tag === tags.ethereum
    ? Buffer.concat([Buffer.from(data.slice(0, 40), "hex"), Buffer.from(data.slice(40))])
    : Buffer.from(data)
}
const hashOf = (tag: string, bytes: Buffer): string => {
  const head = Buffer.alloc(2)
  head.writeUInt16LE(Number(tag))
  return hash(Buffer.concat([head, bytes])).toString("hex")
}
const rootOf = (level: ReadonlyArray<Buffer>): Buffer =>
  level.length < 2
    ? (level[0] ?? hash(Buffer.alloc(0)))
    : rootOf(
        level.flatMap((left, place) => {
          if (place % 2 === 1) return []
          const right = level[place + 1]
          return [right === undefined ? left : hash(Buffer.concat([left, right]))]
        }),
      )

describe("the hash", () => {
  it.each(namedVectors("record-hashes"))("of the record of the vector: %s", (_name, vector) => {
    const { bytes, data, tag } = vector
    expect(Buffer.from(recordDataBytes(Number(tag), data)).toString("hex")).toBe(bytes)
    expect(recordHash(Number(tag), Buffer.from(bytes, "hex"))).toBe(vector.hash)
    expect(dataBytes(Number(tag), data).toString("hex")).toBe(bytes)
    expect(hashOf(tag, Buffer.from(bytes, "hex"))).toBe(vector.hash)
  })

  it("of every valid record of record-formats.json is the one of its stored form", () => {
    for (const { expected } of vectorsOf("record-formats"))
      if (expected !== undefined)
        expect(hashOf(expected.tag, dataBytes(Number(expected.tag), expected.data))).toBe(expected.hash)
  })

  it.each(namedVectors("merkle-roots"))("of the Merkle root of the vector: %s", (_name, { hashes, root }) => {
    expect(merkleRoot(hashes)).toBe(root)
    const leaves = hashes.map((one) => Buffer.from(one, "hex")).sort(Buffer.compare)
    expect(rootOf(leaves).toString("hex")).toBe(root)
  })
})

describe("the tag", () => {
  it.each(namedVectors("tags"))("of the text %s", (_name, { expected, input }) => {
    const tag = parseTag(input)
    const found = tag === undefined ? null : { tag: formatTag(tag), class: findRecordClass(tag) ?? null }
    expect(found).toEqual(expected)
  })

  it.each(namedVectors("tickers"))("of the ticker %s", (_name, { expected, input }) => {
    const ticker = parseTicker(input)
    const tag = formatTag(nativeTickers.get(ticker ?? "") ?? tags.genericCrypto)
    expect(ticker === undefined ? null : { ticker, tag }).toEqual(expected)
  })

  it("of every ticker with a tag of its own is in tickers.json", () => {
    const listed = new Set(vectorsOf("tickers").map(({ input }) => input))
    expect([...nativeTickers.keys()].filter((ticker) => !listed.has(ticker))).toEqual([])
  })
})

describe("the address form", () => {
  it.each(namedVectors("address-formats"))("of the vector: %s", (_name, { expected, input, network }) => {
    expect(findNetwork(network)?.form(input) ?? null).toBe(expected)
  })
})

describe("the payment selection", () => {
  it.each(namedVectors("payment-selection"))("of the vector: %s", (_name, vector) => {
    const records = vector.records.map((input) => {
      const record = normalizeRecord(input)
      if (record instanceof RecordRefused) throw new Error(record.message)
      return record
    })
    const outcome = resolve(toCandidates(records), vector.asset, vector.network)
    if (outcome instanceof ResolveRefused) return expect(outcome.code).toBe(vector.error?.code)
    const { asset, address, memo, network, rule } = outcome
    const record = records.findIndex((one) => one.hash === outcome.record.hash)
    const found = { asset, network, address, ...(memo === undefined ? {} : { memo }), rule, record }
    expect({ ...found, warnings: vector.expected?.warnings }).toEqual(vector.expected)
  })
})

it("every code of a refused record and of a refused payment has a vector", () => {
  const codesOf = (file: VectorFile) =>
    new Set(
      vectorsOf(file).flatMap((vector) => {
        const error = "error" in vector ? vector.error : undefined
        return error === undefined ? [] : [typeof error === "string" ? error : error.code]
      }),
    )
  expect(codesOf("emoji-ids")).toEqual(new Set(["length", "unsupported_emoji"]))
  expect([...codesOf("record-formats")]).toEqual(
    expect.arrayContaining([
      "invalid_tag",
      "unknown_tag",
      "reserved_tag",
      "empty",
      "invalid_text",
      "invalid_hex",
      "invalid_base58",
      "invalid_address",
      "invalid_url",
      "invalid_display_modifiers",
    ]),
  )
  expect(codesOf("payment-selection")).toEqual(
    new Set(["no_address", "network_required", "unknown_network", "unknown_asset"]),
  )
})
