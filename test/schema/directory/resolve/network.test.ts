import { describe, expect, it } from "vitest"
import { findAsset } from "../../../../schema/directory/resolve/asset.ts"
import { findNetwork, foldNetworkName, networks } from "../../../../schema/directory/resolve/network.ts"
import { vectorsOf } from "../../../fixtures/vectors.ts"

/** Real addresses of networks, in the form that users paste. */
const addresses = vectorsOf("address-formats").flatMap(({ expected, input, network }) =>
  expected === input ? [[network, input] as const] : [],
)
const evmNetworks = networks.filter(({ form }) => form === findNetwork("ethereum")?.form)

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
  // A record of such a token names no network, so the form of its address is the only evidence.
  it.each(["USDC", "USDT"])(
    "is different for the networks of %s, except for Ethereum-style networks",
    (ticker) => {
      const all = findAsset(ticker)?.networks ?? []
      const others = all.filter((one) => !evmNetworks.includes(one))
      expect(others.length).toBeGreaterThan(4)
      for (const [name, address] of addresses) {
        const accepting = all.filter(({ form }) => form(address) !== undefined)
        const network = findNetwork(name)!
        if (evmNetworks.includes(network))
          expect(accepting).toEqual(all.filter((one) => evmNetworks.includes(one)))
        else if (all.includes(network)) expect(accepting).toEqual([network])
        else expect(accepting.length).toBeLessThan(2)
      }
    },
  )
})
