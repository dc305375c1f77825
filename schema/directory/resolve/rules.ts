import { tags } from "../records/record-tag.ts"
import { type Asset, findAsset } from "./asset.ts"
import { type Candidate, networkOf } from "./candidate.ts"
import type { Network } from "./network.ts"

/** What is asked for. `asset` and `network` are undefined if they are not in the tables. */
export interface Asked {
  readonly ticker: string
  readonly asset: Asset | undefined
  readonly networkKey: string
  readonly network: Network | undefined
}

export const ruleNames = ["token_record", "asset_record", "generic_record", "account_record"] as const
export type RuleName = (typeof ruleNames)[number]

interface Rule {
  readonly name: RuleName
  /** What the rule selects, for the documentation. */
  readonly selects: string
  readonly matches: (candidate: Candidate, asked: Asked) => boolean
}

const isGenericOf = (asset: Asset, { tag, ticker }: Candidate): boolean =>
  tag === tags.genericCrypto && ticker === asset.ticker

/** Returns the coin whose account also holds the tokens of the network. */
const coinOf = (network: Network | undefined): Asset | undefined =>
  network?.coin === undefined || !network.hasTokenAccounts ? undefined : findAsset(network.coin)

/**
 * The rules that select the record of a send-ready answer. The first rule that matches a record is used. Every rule
 * compares the network, so a record of one network never answers for another:
 *
 * - A token record (0x6300) names its network.
 * - Any other record belongs to the first network of its asset whose address form matches. (See `Asset.networks`.)
 * - The record of a coin answers for a token only if the network holds tokens on the same account as its coin. So the
 *   ETH record answers for USDC on Ethereum, but the BTC record never answers for WBTC, which is on Ethereum.
 *
 * A change of the rules, assets or networks changes responses. Increase `answerFormat` in `src/directory/lookup/answer.ts`
 * with it.
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "token_record",
    selects: "a record with tag 0x6300 that names this asset and this network",
    matches: ({ networkKey, tag, ticker }, asked) =>
      tag === tags.token && ticker === asked.ticker && networkKey === asked.networkKey,
  },
  {
    name: "asset_record",
    selects: "a record with the tag of this asset, with an address of this network",
    matches: (candidate, { asset, network }) =>
      asset?.tags[0] === candidate.tag && network !== undefined && networkOf(candidate, asset) === network,
  },
  {
    name: "asset_record",
    selects:
      "a record with the second tag of this asset, with an address of this network (Monero sub addresses)",
    matches: (candidate, { asset, network }) =>
      asset?.tags[1] === candidate.tag && network !== undefined && networkOf(candidate, asset) === network,
  },
  {
    name: "generic_record",
    selects: "a record with tag 0x3fff and the ticker of this asset, with an address of this network",
    matches: (candidate, { asset, network }) =>
      asset !== undefined &&
      network !== undefined &&
      isGenericOf(asset, candidate) &&
      networkOf(candidate, asset) === network,
  },
  {
    name: "account_record",
    selects:
      "for a token: a record of the coin of this network, because the network holds tokens on the same account",
    matches: (candidate, { asset, network }) => {
      const coin = coinOf(network)
      return (
        asset !== undefined &&
        network !== undefined &&
        coin !== undefined &&
        coin !== asset &&
        asset.networks.includes(network) &&
        (coin.tags[0] === candidate.tag || isGenericOf(coin, candidate)) &&
        networkOf(candidate, coin) === network
      )
    },
  },
]
