import { percentDecodeStrict } from "../../percent-decode.ts"
import type { DirectoryRecord } from "../records/record.ts"
import { parsePaymentData } from "../records/record-data.ts"
import { findRecordClass, parseTag, tags } from "../records/record-tag.ts"
import type { Asset } from "./asset.ts"
import { findNetwork, foldNetworkName, type Network } from "./network.ts"

/** A record with an address, parsed. */
export interface Candidate {
  readonly tag: number
  readonly record: { readonly tag: string; readonly hash: string }
  readonly address: string
  readonly isDefault: boolean
  /** The ticker that the record names. Undefined for a record whose tag means one coin. */
  readonly ticker: string | undefined
  /** The network that a token record names, in the form of `networkKey`. */
  readonly networkKey: string | undefined
}

/** Returns the name of a network from the table, or the folded name of a network that is not in the table. */
export const networkKey = (text: string): string => findNetwork(text)?.name ?? foldNetworkName(text)

const toCandidate = ({ data, hash, tag }: DirectoryRecord): ReadonlyArray<Candidate> => {
  const number = parseTag(tag)
  if (number === undefined || (findRecordClass(number) !== "crypto" && number !== tags.token)) return []
  const payment = parsePaymentData(number, data)
  if (payment === undefined) return []
  const { address, isDefault, settlementNetwork, shortName } = payment
  return [
    {
      tag: number,
      record: { tag, hash },
      address,
      isDefault,
      ticker: shortName?.toUpperCase(),
      networkKey: settlementNetwork === undefined ? undefined : networkKey(settlementNetwork),
    },
  ]
}

/**
 * Returns the records with addresses in the order in which they are preferred: the default records first, and newer
 * before older ones. `records` must be ordered oldest first.
 */
export const toCandidates = (records: ReadonlyArray<DirectoryRecord>): ReadonlyArray<Candidate> => {
  const newestFirst = records.toReversed().flatMap(toCandidate)
  return [...newestFirst.filter((one) => one.isDefault), ...newestFirst.filter((one) => !one.isDefault)]
}

export interface Destination {
  readonly address: string
  readonly memo?: string
}

const maxMemoUnits = 128
const maxNumber = 2 ** 32 - 1

const readMemo = (network: Network, encoded: string): string | undefined => {
  const memo = percentDecodeStrict(encoded)
  if (network.memo === undefined || memo === undefined || memo === "" || memo.length > maxMemoUnits)
    return undefined
  const isNumber = /^(?:0|[1-9]\d{0,9})$/.test(memo) && Number(memo) <= maxNumber
  return network.memo === "text" || isNumber ? memo : undefined
}

/**
 * Reads the address of a record as an address of the network. A memo or destination tag is written after the address:
 * `ADDRESS?memo=TEXT`, percent-encoded, or `ADDRESS?dt=NUMBER`. Undefined if the address does not have the form of the
 * network, or if it has something after it that is not a memo of the network: without its memo, a payment would be lost.
 * Also undefined if the address contains a memo and has another one after it.
 */
export const readDestination = (network: Network, text: string): Destination | undefined => {
  const [, plain = text, encoded] = /^([^?]*)\?(?:memo|dt)=([^&]*)$/.exec(text) ?? []
  const address = network.form(plain)
  if (address === undefined || encoded === undefined) return address === undefined ? undefined : { address }
  const memo = network.memoInAddress?.test(address) ? undefined : readMemo(network, encoded)
  return memo === undefined ? undefined : { address, memo }
}

/**
 * Makes a function that keeps its results as long as the candidate. An id can have hundreds of records, one request can
 * resolve many assets of it, and checking the form of an address takes time.
 */
const keeping = <K, A>(compute: (candidate: Candidate, key: K) => A) => {
  const known = new WeakMap<Candidate, Map<K, A>>()
  return (candidate: Candidate, key: K): A => {
    const kept = known.get(candidate) ?? new Map<K, A>()
    known.set(candidate, kept)
    if (!kept.has(key)) kept.set(key, compute(candidate, key))
    return kept.get(key) as A
  }
}

/** Returns the address of a record as an address of the network. See `readDestination`. */
export const destinationOn = keeping((candidate, network: Network) =>
  readDestination(network, candidate.address),
)

/**
 * Returns the network of a record that names none: the first network of the asset whose address form matches. Undefined
 * if none matches.
 */
export const networkOf = keeping((candidate, asset: Asset) =>
  asset.networks.find((network) => destinationOn(candidate, network) !== undefined),
)
