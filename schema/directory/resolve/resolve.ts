import { parseTicker } from "../ticker.ts"
import { type Asset, findAsset } from "./asset.ts"
import { type Candidate, type Destination, destinationOn, networkKey } from "./candidate.ts"
import { findNetwork } from "./network.ts"
import { type Asked, type RuleName, rules } from "./rules.ts"

export interface Resolved extends Destination {
  readonly asset: string
  readonly network: string
  readonly record: { readonly tag: string; readonly hash: string }
  readonly rule: RuleName
  /**
   * The networks on which the id has a record for this asset, if the asset has no record of its own for the requested
   * network.
   */
  readonly otherNetworks: ReadonlyArray<string>
}

/** An id can have hundreds of token records, each with a network of its own. A response names this many at most. */
const maxListed = 20

export class ResolveRefused {
  readonly _tag = "ResolveRefused"
  readonly code: "unknown_asset" | "unknown_network" | "network_required" | "no_address"
  readonly message: string
  /** For `no_address`: other networks on which the id can receive the asset. Else the networks that can be requested. */
  readonly networks: ReadonlyArray<string>

  constructor(code: ResolveRefused["code"], message: string, networks: ReadonlyArray<string> = []) {
    this.code = code
    this.message = message
    this.networks = networks.slice(0, maxListed)
  }
}

const toAsked = (ticker: string, asset: Asset | undefined, network: string): Asked => ({
  ticker,
  asset,
  networkKey: networkKey(network),
  network: findNetwork(network),
})

/** Reads the address of a candidate. A network that is not in the table has no form that could be checked. */
const destinationOf = ({ network }: Asked, candidate: Candidate): Destination | undefined =>
  network === undefined ? { address: candidate.address } : destinationOn(candidate, network)

/** Applies the rules in their order. The first record that a rule matches is selected. */
const select = (candidates: ReadonlyArray<Candidate>, asked: Asked) => {
  for (const rule of rules) {
    for (const candidate of candidates) {
      const destination = rule.matches(candidate, asked) ? destinationOf(asked, candidate) : undefined
      if (destination !== undefined) return { rule: rule.name, record: candidate.record, destination }
    }
  }
  return undefined
}

/**
 * Returns the networks on which the id can receive the asset, with the rule that selects the record. A network is
 * compared only with the records that can belong to it: an id can have hundreds of token records, each with a network
 * of its own.
 */
const listReachable = (candidates: ReadonlyArray<Candidate>, ticker: string, asset: Asset | undefined) => {
  const unnamed = candidates.filter((one) => one.networkKey === undefined)
  const byName = new Map<string, Array<Candidate>>(
    asset?.networks.map(({ name }): [string, Array<Candidate>] => [name, [...unnamed]]),
  )
  for (const one of candidates) {
    if (one.ticker !== ticker || one.networkKey === undefined) continue
    const known = byName.get(one.networkKey)
    if (known === undefined) byName.set(one.networkKey, [one])
    else known.push(one)
  }
  return [...byName].flatMap(([name, possible]) => {
    const found = select(possible, toAsked(ticker, asset, name))
    return found === undefined ? [] : [{ name, rule: found.rule }]
  })
}

const isOwnRecord = ({ rule }: { readonly rule: RuleName }): boolean => rule !== "account_record"

const listText = (names: ReadonlyArray<string>): string =>
  names.slice(0, maxListed).join(", ") +
  (names.length > maxListed ? ` and ${names.length - maxListed} more` : "")

/**
 * Returns the one address to which a wallet sends an asset on a network, or the reason why there is none. Without
 * `networkText`, the network of the coin or the only network of the token is used.
 */
export const resolve = (
  candidates: ReadonlyArray<Candidate>,
  assetText: string,
  networkText: string | undefined,
): Resolved | ResolveRefused => {
  const ticker = parseTicker(assetText)
  if (ticker === undefined)
    return new ResolveRefused("unknown_asset", "asset: expected a ticker such as BTC or USDC")
  const asset = findAsset(ticker)
  const networkName = networkText === undefined || networkText === "" ? asset?.home?.name : networkText
  const asked = networkName === undefined ? undefined : toAsked(ticker, asset, networkName)
  const found = asked === undefined ? undefined : select(candidates, asked)
  if (asked !== undefined && found !== undefined) {
    const { destination, record, rule } = found
    const hasOwnRecord = rule !== "account_record"
    const own = hasOwnRecord ? [] : listReachable(candidates, ticker, asset).filter(isOwnRecord)
    const otherNetworks = own.slice(0, maxListed).map(({ name }) => name)
    return { asset: ticker, network: asked.networkKey, ...destination, record, rule, otherNetworks }
  }
  const usable = listReachable(candidates, ticker, asset).map(({ name }) => name)
  if (asset === undefined && usable.length === 0) {
    return new ResolveRefused(
      "unknown_asset",
      `${ticker} is not a known asset, so its networks are not known.`,
    )
  }
  const possible = [...new Set([...(asset?.networks ?? []).map(({ name }) => name), ...usable])]
  if (asked === undefined) {
    const text = `Name the network of ${ticker} with the parameter network. It is one of these: ${listText(possible)}.`
    return new ResolveRefused("network_required", text, possible)
  }
  if (asked.network === undefined || !possible.includes(asked.networkKey)) {
    const why = asked.network === undefined ? "is not a known network" : `is not a network of ${ticker}`
    const text = `${networkName} ${why}. Use one of these: ${listText(possible)}.`
    return new ResolveRefused("unknown_network", text, possible)
  }
  const others = usable.length === 0 ? "" : ` It has one for another network: ${listText(usable)}.`
  return new ResolveRefused(
    "no_address",
    `This emoji id has no address for ${ticker} on ${asked.networkKey}.${others}`,
    usable,
  )
}
