import { tags } from "../records/record-tag.ts"
import { nativeTickers } from "../ticker.ts"
import { findNetwork, type Network, networks } from "./network.ts"

export interface Asset {
  readonly ticker: string
  /**
   * The networks on which the asset exists. The order matters: a record that names no network belongs to the first
   * network whose address form matches. So a USDC record with an Ethereum-style address is for Ethereum, and not for
   * Polygon or Base, whose addresses have the same form.
   */
  readonly networks: ReadonlyArray<Network>
  /** The network of a request that names none. Undefined if the request must name one. */
  readonly home: Network | undefined
  /** The tags of its records. */
  readonly tags: ReadonlyArray<number>
}

const evmNetworks = ["ethereum", "polygon", "base", "arbitrum", "optimism", "avalanche", "bsc"]

/**
 * Tokens, and coins whose ticker is used on several networks. A token that exists on other networks too is found there
 * by its token record (0x6300), which names the network.
 */
const tokens: Readonly<Record<string, ReadonlyArray<string>>> = {
  USDC: ["ethereum", "solana", "tron", "polygon", "base", "arbitrum", "optimism", "avalanche", "bsc"].concat([
    "stellar",
    "algorand",
    "near",
    "sui",
  ]),
  USDT: ["ethereum", "tron", "solana", "bsc", "polygon", "arbitrum", "optimism", "avalanche", "ton"].concat([
    "near",
    "algorand",
  ]),
  DAI: [...evmNetworks, "gnosis"],
  WBTC: ["ethereum", "polygon", "arbitrum", "optimism", "avalanche"],
  LINK: evmNetworks,
  UNI: ["ethereum"],
  BUSD: ["ethereum", "bsc"],
  AAVE: ["ethereum", "polygon", "arbitrum", "optimism", "avalanche"],
  SHIB: ["ethereum"],
  TUSD: ["ethereum", "tron", "bsc", "avalanche"],
  PYUSD: ["ethereum", "solana"],
  EURC: ["ethereum", "solana", "base", "avalanche", "stellar"],
  PEPE: ["ethereum"],
  ARB: ["arbitrum", "ethereum"],
  OP: ["optimism"],
  MATIC: ["polygon", "ethereum"],
  POL: ["polygon", "ethereum"],
  FTM: ["fantom", "ethereum"],
  CRO: ["cronos", "ethereum", "crypto-org"],
  BTT: ["tron", "bsc", "ethereum"],
  CAKE: ["bsc"],
  BTCB: ["bsc"],
  XVS: ["bsc"],
  BAKE: ["bsc"],
  TFUEL: ["theta"],
  XMR_SUB: ["monero"],
  HNT: ["solana"],
  UST: ["terra", "ethereum"],
  SNX: ["ethereum", "optimism"],
  TEL: ["ethereum", "polygon"],
  REV: ["ethereum", "tron"],
  ...Object.fromEntries(
    ["HT", "FTT", "MKR", "COMP", "LEO", "YFI", "CHZ", "OKB", "NEXO", "MANA", "SUSHI", "HOT", "BAT", "CEL"]
      .concat(["ENJ", "GRT", "UMA", "BNT", "ZRX", "OMG", "PAX", "CHSB", "CRV", "ANKR"])
      .map((ticker) => [ticker, ["ethereum"]]),
  ),
}

/** Networks on which a coin is the coin too, beside its own network. */
const alsoOn: Readonly<Record<string, ReadonlyArray<string>>> = {
  ETH: ["base", "arbitrum", "optimism", "linea", "zksync"],
}

const tagsOf = (ticker: string): ReadonlyArray<number> => {
  const native = nativeTickers.get(ticker)
  if (native === undefined) return []
  // A sub address of this coin is an address of the same network. The standard address is preferred.
  return ticker === "XMR" ? [native, tags.moneroSubaddress] : [native]
}

const toNetworks = (names: ReadonlyArray<string>): ReadonlyArray<Network> =>
  names.map((name) => {
    const found = findNetwork(name)
    if (found === undefined) throw new Error(`${name} is not in the table of networks`)
    return found
  })

const toCoin = (network: Network, coin: string): Asset => ({
  ticker: coin,
  networks: [network, ...toNetworks(alsoOn[coin] ?? [])],
  home: network,
  tags: tagsOf(coin),
})

const toToken = ([ticker, names]: readonly [string, ReadonlyArray<string>]): Asset => {
  const all = toNetworks(names)
  return { ticker, networks: all, home: all.length === 1 ? all[0] : undefined, tags: tagsOf(ticker) }
}

export const assets: ReadonlyArray<Asset> = [
  ...networks.flatMap((network) => (network.coin === undefined ? [] : [toCoin(network, network.coin)])),
  ...Object.entries(tokens).map(toToken),
]

const byTicker: ReadonlyMap<string, Asset> = new Map(assets.map((asset) => [asset.ticker, asset]))

export const findAsset = (ticker: string): Asset | undefined => byTicker.get(ticker)
