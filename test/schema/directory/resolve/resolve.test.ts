import { describe, expect, it } from "vitest"
import { normalizeRecord, RecordRefused } from "../../../../schema/directory/record.ts"
import { toCandidates } from "../../../../schema/directory/resolve/candidate.ts"
import { networks } from "../../../../schema/directory/resolve/network.ts"
import { ResolveRefused, resolve } from "../../../../schema/directory/resolve/resolve.ts"
import { nativeTickers } from "../../../../schema/directory/ticker.ts"

const eth = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
const otherEth = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
const btc = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"
const tron = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
const solana = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"
const xrp = "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"
const stellar = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
const monero =
  "44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A"
const subaddress = `8${monero.slice(1)}`

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

describe("the selection rules", () => {
  it.each<[string, string, string | undefined, ReadonlyArray<Entry>, ReadonlyArray<string>]>([
    [
      "token_record, which names the network",
      "USDC",
      "polygon",
      [["0x6300", `USDC|USD Coin|Polygon|${eth}`]],
      [eth],
    ],
    [
      "token_record before asset_record",
      "USDC",
      "ethereum",
      [
        ["0x6300", `usdc||ERC20|${eth}`],
        ["0x101b", otherEth],
      ],
      [eth],
    ],
    [
      "asset_record before generic_record",
      "USDC",
      "ethereum",
      [
        ["0x3fff", `USDC|${eth}`],
        ["0x101b", otherEth],
      ],
      [otherEth],
    ],
    ["asset_record", "BTC", undefined, [BTC, ETH], [btc]],
    ["asset_record with the network of its address form", "USDT", "tron", [["0x1011", tron]], [tron]],
    ["asset_record of a second tag", "XMR", undefined, [["0x1002", subaddress]], [subaddress]],
    [
      "asset_record of the first tag before the second",
      "XMR",
      undefined,
      [
        ["0x1001", monero],
        ["0x1002", subaddress],
      ],
      [monero],
    ],
    [
      "generic_record",
      "TON",
      undefined,
      [["0x3fff", "TON|EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs"]],
      ["EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs"],
    ],
    [
      "generic_record before account_record",
      "DAI",
      "ethereum",
      [ETH, ["0x3fff", `DAI|${otherEth}`]],
      [otherEth],
    ],
    ["account_record of Ethereum", "WBTC", "ethereum", [BTC, ETH], [eth]],
    [
      "account_record of Ethereum, from a generic record",
      "USDC",
      "ethereum",
      [["0x3fff", `ETH|${eth}`]],
      [eth],
    ],
    ["account_record of Tron", "USDT", "tron", [ETH, TRX], [tron]],
    ["account_record of Solana", "USDC", "solana", [ETH, SOL], [solana]],
    ["account_record of BNB Smart Chain", "CAKE", undefined, [["0x1010", eth]], [eth]],
    [
      "token_record with names that are in no table",
      "KRWX",
      "Home Chain",
      [["0x6300", "KRWX||home-chain|acct-7"]],
      ["acct-7"],
    ],
  ])("use %s", (name, asset, network, entries, [address]) => {
    expect(ask(asset, network, ...entries)).toEqual([name.split(/[ ,]/)[0], expect.any(String), address])
  })

  it("prefer the newest default record, else the newest record, as the payment lookup does", () => {
    const older: Entry = ["0x1004", `${otherEth}|old||t`]
    const newer: Entry = ["0x1004", eth]
    expect(ask("ETH", undefined, older, newer)).toContain(otherEth)
    expect(ask("ETH", undefined, ["0x1004", otherEth], newer)).toContain(eth)
    expect(ask("ETH", undefined, older, ["0x1004", `${eth}|new||t`])).toContain(eth)
  })

  it("choose among the records of the requested network only, even if another record is the default", () => {
    const records: ReadonlyArray<Entry> = [
      ["0x1011", eth],
      ["0x1011", `${tron}|main||t`],
    ]
    expect(ask("USDT", "ethereum", ...records)).toEqual(["asset_record", "ethereum", eth])
    expect(ask("USDT", "tron", ...records)).toEqual(["asset_record", "tron", tron])
  })
})

describe("an address of another chain is never returned", () => {
  it.each<[string, string, string | undefined, ReadonlyArray<Entry>, string]>([
    ["the BTC record for WBTC on Ethereum", "WBTC", "ethereum", [BTC], "no_address"],
    ["the ETH record for USDC on Polygon", "USDC", "polygon", [ETH], "no_address"],
    ["the ETH record for USDC on Base", "USDC", "base", [ETH], "no_address"],
    ["the ETH record for ETH on Base", "ETH", "base", [ETH], "no_address"],
    ["the ETH record for USDT on Tron", "USDT", "tron", [ETH], "no_address"],
    ["the ETH record for BNB", "BNB", undefined, [ETH], "no_address"],
    ["the ETH record for ETC", "ETC", undefined, [ETH], "no_address"],
    ["the TRX record for USDT on Ethereum", "USDT", "ethereum", [TRX], "no_address"],
    ["the SOL record for USDC on Ethereum", "USDC", "ethereum", [SOL], "no_address"],
    [
      "a USDC record with a Solana address on Ethereum",
      "USDC",
      "ethereum",
      [["0x101b", solana]],
      "no_address",
    ],
    ["a USDC record with an Ethereum address on Polygon", "USDC", "polygon", [["0x101b", eth]], "no_address"],
    ["a USDC record with an Ethereum address on Solana", "USDC", "solana", [["0x101b", eth]], "no_address"],
    [
      "a token record of Tron on Ethereum",
      "USDT",
      "ethereum",
      [["0x6300", `USDT||tron|${tron}`]],
      "no_address",
    ],
    [
      "a token record of Tron with an Ethereum address",
      "USDT",
      "tron",
      [["0x6300", `USDT||tron|${eth}`]],
      "no_address",
    ],
    [
      "a token record of another token",
      "USDC",
      "ethereum",
      [["0x6300", `USDT||ethereum|${eth}`]],
      "no_address",
    ],
    [
      "a MATIC record for USDC on Polygon, because MATIC is on Ethereum too",
      "USDC",
      "polygon",
      [["0x1029", eth]],
      "no_address",
    ],
    ["a DOGE record with a Bitcoin address", "DOGE", undefined, [["0x1013", btc]], "no_address"],
    ["a payment address (0x6200), which names no chain", "ETH", undefined, [["0x6200", eth]], "no_address"],
    ["the ETH record for BTC on Ethereum", "BTC", "ethereum", [BTC, ETH], "unknown_network"],
    ["the ETH record for TRX on Ethereum", "TRX", "ethereum", [ETH], "unknown_network"],
    ["a generic record of an unknown ticker", "FOO", "ethereum", [["0x3fff", `FOO|${eth}`]], "unknown_asset"],
    [
      "any record of a token without a network",
      "USDC",
      undefined,
      [["0x101b", eth], ETH],
      "network_required",
    ],
    ["any record on an unknown network", "USDC", "moon", [["0x101b", eth]], "unknown_network"],
  ])("not %s", (_name, asset, network, entries, code) => {
    expect(ask(asset, network, ...entries)).toBe(code)
  })

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

describe("a memo", () => {
  const memoOf = (asset: string, data: string) => {
    const tag = nativeTickers.get(asset)?.toString(16) ?? "3fff"
    const outcome = resolve(
      stored([[`0x${tag}`, tag === "3fff" ? `${asset}|${data}` : data]]),
      asset,
      undefined,
    )
    return outcome instanceof ResolveRefused ? outcome.code : [outcome.address, outcome.memo]
  }

  it.each([
    ["XRP", `${xrp}?dt=42`, [xrp, "42"]],
    ["XRP", `${xrp}?memo=4294967295`, [xrp, "4294967295"]],
    ["XRP", xrp, [xrp, undefined]],
    ["XLM", `${stellar}?memo=order%207`, [stellar, "order 7"]],
    ["EOS", "bitfinexdep1?memo=7", ["bitfinexdep1", "7"]],
    ["HBAR", "0.0.3?memo=7", ["0.0.3", "7"]],
  ])("of %s is separated from its address: %s", (asset, data, expected) => {
    expect(memoOf(asset, data)).toEqual(expected)
  })

  it.each([
    ["a destination tag that is not a number", "XRP", `${xrp}?dt=abc`],
    ["a destination tag that is too large", "XRP", `${xrp}?dt=4294967296`],
    ["a tag beside an X-address", "XRP", "X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ?dt=1"],
    [
      "a memo beside a multiplexed account",
      "XLM",
      "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ?memo=1",
    ],
    ["an empty memo", "XLM", `${stellar}?memo=`],
    ["a parameter that is not a memo", "XLM", `${stellar}?note=7`],
    ["a memo of a chain without memos", "SOL", `${solana}?memo=7`],
    ["malformed percent escapes", "XLM", `${stellar}?memo=%zz`],
  ])(
    "that cannot be read makes the record unusable, because a payment without it would be lost: %s",
    (_, asset, data) => {
      expect(memoOf(asset, data)).toBe("no_address")
    },
  )
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
