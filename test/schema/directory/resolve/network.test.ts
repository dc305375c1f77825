import { describe, expect, it } from "vitest"
import { findAsset } from "../../../../schema/directory/resolve/asset.ts"
import { findNetwork, foldNetworkName, networks } from "../../../../schema/directory/resolve/network.ts"

/** Real addresses of networks. */
const addresses: ReadonlyArray<readonly [network: string, address: string]> = [
  ["ethereum", "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"],
  ["tron", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"],
  ["solana", "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"],
  ["bitcoin", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"],
  ["bitcoin-cash", "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"],
  ["litecoin", "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9"],
  ["dash", "XpESxaUmonkq8RaLLp46Brx2K39ggQe226"],
  ["ravencoin", "RXBurnXXXXXXXXXXXXXXXXXXXXXXWUo9FV"],
  ["zcash", "t1Hsc1LR8yKnbbe3twRp88p6vFfC5t7DLbs"],
  [
    "monero",
    "44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A",
  ],
  ["xrp-ledger", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"],
  ["xrp-ledger", "X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ"],
  ["stellar", "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"],
  ["stellar", "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ"],
  ["algorand", "7ZUECA7HFLZTXENRV24SHLU4AVPUTMTTDUFUBNBD64C73F3UHRTHAIOF6Q"],
  ["ton", "EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs"],
  ["polkadot", "15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5"],
  ["kusama", "HNZata7iMYWmk5RvZRTiAsSDhV8366zq2YGb3tLH5Upf74F"],
  ["cosmos", "cosmos1fl48vsnmsdzcv85q5d2q4z5ajdha8yu34mf0eh"],
  ["terra", "terra1dcegyrekltswvyy0xy69ydgxn9x8x32zdtapd8"],
  ["cardano", "addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8"],
  ["tezos", "tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb"],
  ["hedera", "0.0.3"],
  ["eos", "bitfinexdep1"],
  ["near", "alice.near"],
  ["nano", "nano_3t6k35gi95xu6tergt6p69ck76ogmitsa8mnijtpxm9fkcm736xtoncuohr3"],
  ["filecoin", "f1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za"],
]
const evmName = "ethereum"
const evmNetworks = networks.filter(({ form }) => form === findNetwork(evmName)?.form)

/** Changes one character in the middle, so that the text still has the right characters and length. */
const mistype = (address: string): string => {
  const at = Math.floor(address.length / 2)
  const other = address[at] === "7" ? "6" : "7"
  return address.slice(0, at) + other + address.slice(at + 1)
}

describe("the table of networks", () => {
  it("gives every name to one network only", () => {
    const names = networks.flatMap(({ aliases, coin, name }) => [
      ...new Set([name, ...aliases, ...(coin === undefined ? [] : [coin])].map(foldNetworkName)),
    ])
    expect(names.filter((name, place) => names.indexOf(name) !== place)).toEqual([])
  })

  it.each([
    ["Ethereum", "ethereum"],
    ["ERC-20", "ethereum"],
    ["ETH", "ethereum"],
    ["eip155:1", "ethereum"],
    ["trc20", "tron"],
    ["Binance Smart Chain", "bsc"],
    ["arbitrum_one", "arbitrum"],
    ["ripple", "xrp-ledger"],
  ])("finds the network with the name %s", (text, name) => {
    expect(findNetwork(text)?.name).toBe(name)
  })
})

describe("the address form of a network", () => {
  it.each(addresses)("of %s accepts %s", (name, address) => {
    expect(findNetwork(name)?.form(address)).toBe(address)
  })

  // A record of such a token names no network, so the form of its address is the only evidence.
  it.each(["USDC", "USDT"])(
    "is different for the networks of %s, except for Ethereum-style networks",
    (ticker) => {
      const all = findAsset(ticker)?.networks ?? []
      const others = all.filter((one) => !evmNetworks.includes(one))
      expect(others.length).toBeGreaterThan(4)
      for (const [name, address] of addresses) {
        const accepting = all.filter(({ form }) => form(address) !== undefined)
        const isEvm = name === evmName
        if (isEvm) expect(accepting).toEqual(all.filter((one) => evmNetworks.includes(one)))
        else expect(accepting.length).toBeLessThan(2)
        if (all.some((one) => one.name === name)) expect(accepting[0]?.name).toBe(name)
      }
    },
  )

  it.each(
    addresses.filter(([name]) =>
      [
        "ethereum",
        "tron",
        "bitcoin",
        "xrp-ledger",
        "stellar",
        "algorand",
        "ton",
        "polkadot",
        "cosmos",
      ].includes(name),
    ),
  )("of %s rejects %s with a wrong character, because of its checksum", (name, address) => {
    expect(findNetwork(name)?.form(mistype(address))).toBeUndefined()
  })

  it("of an Ethereum-style network returns the EIP-55 checksum and 0x for bare lower-case hex", () => {
    expect(findNetwork("base")?.form("d8da6bf26964af9d7eed9e03e53415d37aa96045")).toBe(
      "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
    )
  })
})
