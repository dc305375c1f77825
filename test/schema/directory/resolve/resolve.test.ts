import { describe, expect, it } from "vitest"
import { normalizeRecord, RecordRefused } from "../../../../schema/directory/records/record.ts"
import { toCandidates } from "../../../../schema/directory/resolve/candidate.ts"
import { networks } from "../../../../schema/directory/resolve/network.ts"
import { ResolveRefused, resolve } from "../../../../schema/directory/resolve/resolve.ts"

const eth = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
const otherEth = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
const btc = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"
const tron = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
const solana = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"
const stellar = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"

type Entry = readonly [tag: string, data: string]
const ETH: Entry = ["0x1004", eth]
const BTC: Entry = ["0x1003", btc]
const TRX: Entry = ["0x1023", tron]
const SOL: Entry = ["0x101d", solana]

const stored = (entries: ReadonlyArray<Entry>) =>
  toCandidates(
    entries.map(([tag, data]) => {
      const record = normalizeRecord({ tag, data })
      if (record instanceof RecordRefused) throw new Error(record.message)
      return record
    }),
  )
const ask = (asset: string, network: string | undefined, ...entries: ReadonlyArray<Entry>) => {
  const outcome = resolve(stored(entries), asset, network)
  return outcome instanceof ResolveRefused ? outcome.code : [outcome.rule, outcome.network, outcome.address]
}

// schema/vectors/payment-selection.json has the cases of each rule, of memos and of addresses that must not be returned.

describe("an address of another chain is never returned", () => {
  it("for any pair of networks: a record with the address of one never answers for another", () => {
    const tokens = ["USDC", "USDT", "DAI", "ETH", "BTC", "LINK", "MATIC"]
    const all = [ETH, BTC, TRX, SOL, ["0x1010", otherEth] as const, ["0x101c", stellar] as const]
    const expected = new Map([
      ["ethereum", eth],
      ["bitcoin", btc],
      ["tron", tron],
      ["solana", solana],
      ["bsc", otherEth],
      ["stellar", stellar],
    ])
    for (const { name } of networks) {
      for (const asset of tokens) {
        const outcome = ask(asset, name, ...all)
        if (typeof outcome !== "string")
          expect([asset, name, outcome[2]]).toEqual([asset, name, expected.get(name)])
      }
    }
    expect(ask("USDC", "bsc", ...all)).toEqual(["account_record", "bsc", otherEth])
  })
})

describe("a refused request", () => {
  it("lists the networks that can be named", () => {
    expect(resolve([], "DAI", undefined)).toMatchObject({
      code: "network_required",
      networks: ["ethereum", "polygon", "base", "arbitrum", "optimism", "avalanche", "bsc", "gnosis"],
    })
    expect(resolve([], "BTC", "ethereum")).toMatchObject({ networks: ["bitcoin"] })
  })

  it("names the other networks on which the id has an address, and not the address", () => {
    const outcome = resolve(
      stored([["0x101b", solana], ETH, ["0x6300", "USDC||Mars|m-1"]]),
      "USDC",
      "polygon",
    )
    expect(outcome).toMatchObject({ code: "no_address", networks: ["ethereum", "solana", "mars"] })
    expect(JSON.stringify(outcome)).not.toContain(solana)
    expect(JSON.stringify(outcome)).not.toContain(eth)
  })
})

it("an answer by account_record names the networks for which the asset has a record of its own", () => {
  const outcome = resolve(stored([ETH, ["0x101b", solana]]), "USDC", "ethereum")
  expect(outcome).toMatchObject({ rule: "account_record", address: eth, otherNetworks: ["solana"] })
})

describe("the work for an id with many records", () => {
  /** Counts how often the member of the candidates is read. */
  const counted = (member: "tag" | "address", entries: ReadonlyArray<Entry>) => {
    const count = { reads: 0 }
    const candidates = stored(entries)
    for (const candidate of candidates) {
      const value = candidate[member]
      const get = () => {
        count.reads++
        return value
      }
      Object.defineProperty(candidate, member, { get })
    }
    return { candidates, count }
  }
  const tokens = (networkOf: (n: number) => string, most = 256) =>
    Array.from({ length: most }, (_, n): Entry => ["0x6300", `USDC|x|${networkOf(n)}|address${n}`])

  it("and the response are small although it has hundreds of networks: it names twenty", () => {
    const entries = Array.from({ length: 250 }, (_, i): Entry => ["0x6300", `KRWX||chain-${i}|account`])
    const outcome = resolve(stored(entries), "KRWX", undefined) as ResolveRefused
    expect([outcome.code, outcome.networks.length]).toEqual(["network_required", 20])
    expect(outcome.message).toMatch(/, \S+ and 230 more\.$/)
  })

  it("grows with the number of records, and not with its square", () => {
    const { candidates, count } = counted(
      "tag",
      tokens((n) => `net${n}`),
    )
    expect(resolve(candidates, "USDC", "gnosis")).toMatchObject({ code: "unknown_network" })
    expect(count.reads).toBeLessThan(20 * candidates.length)
  })

  it("checks an address once for each network, however many assets are resolved", () => {
    const { candidates, count } = counted(
      "address",
      tokens(() => "solana"),
    )
    for (let asked = 0; asked < 100; asked++)
      expect(resolve(candidates, "USDC", "solana")).toMatchObject({ code: "no_address" })
    expect(count.reads).toBe(candidates.length)
  })
})
