import type { LiveLookupResult, ResolveWarning } from "../../../client/api-types.ts"
import { type Categories, partsOf, writtenData } from "../account/records.ts"
import { call } from "../platform/api.ts"
import { client } from "../platform/session.ts"

export type LookupRecord = LiveLookupResult["result"][number]

/** A record with the parts that the lookup shows. */
export interface ShownRecord {
  readonly hash: string
  readonly name: string
  readonly value: string
  readonly details: string
  readonly isDefault: boolean
  /** Whether payments are sent to the value. */
  readonly isAddress: boolean
  /** The URL, if the value is a link to a page. */
  readonly href: string | undefined
  /** How a wallet asks for this address. Undefined if wallets cannot ask for it. */
  readonly asset: { readonly asset: string; readonly network?: string } | undefined
}

const ticker = /^[A-Z0-9][A-Z0-9_.$-]{0,15}$/
const linkTags = ["0x4001", "0x0004"]
const otherCoin = "0x3fff"
const token = "0x6300"

const assetOf = ({ data, tag }: LookupRecord, categories: Categories): ShownRecord["asset"] => {
  const [short = "", , network = ""] = data.split("|")
  if (tag === token) return { asset: short, network }
  const asset = tag === otherCoin ? short.toUpperCase() : (categories[tag] ?? "")
  const high = Number.parseInt(tag, 16) >> 8
  return high >= 0x10 && high <= 0x3f && ticker.test(asset) ? { asset } : undefined
}

export const readRecord = (record: LookupRecord, categories: Categories): ShownRecord => {
  const { hash, tag } = record
  const { isDefault = false, more, name, value } = partsOf(tag, writtenData(record))
  const high = Number.parseInt(tag, 16) >> 8
  return {
    hash,
    name: name ?? (tag === token ? `${record.data.split("|")[0]} token` : (categories[tag] ?? tag)),
    value,
    details: more.filter(Boolean).join(" · "),
    isDefault,
    isAddress: (high >= 0x10 && high <= 0x3f) || high === 0x62 || high === 0x63,
    href: linkTags.includes(tag) && /^https?:\/\//i.test(value) ? value : undefined,
    asset: assetOf(record, categories),
  }
}

/** What a payer must know about an address. */
export interface AddressFacts {
  /** The address in the form that users paste, without the memo. Undefined if wallets do not get this address. */
  readonly address: string | undefined
  readonly network: string | undefined
  readonly memo: string | undefined
  readonly warning: string | undefined
}

export interface Checked {
  /** The facts about each address, by the hash of its record. */
  readonly addresses: ReadonlyMap<string, AddressFacts>
  /** Set if the id got a new owner recently. */
  readonly ownerChange: ResolveWarning | undefined
}

/** An asset whose answer also contains the warning about the owner, for ids without addresses. */
const anyAsset: NonNullable<ShownRecord["asset"]> = { asset: "BTC" }
const maxItems = 99
/** The service does not know these assets or networks, so it cannot say anything about them. */
const unknown = ["unknown_asset", "unknown_network"]

/**
 * Asks the service how a wallet would pay to the addresses: the network, the memo, and reasons to ask the recipient. With
 * `atLeast`, the proof of each answer is checked, and an answer about an older version is refused.
 */
export const checkAddresses = async (
  id: string,
  records: ReadonlyArray<ShownRecord>,
  atLeast?: number,
): Promise<Checked> => {
  const asked = records.filter(({ asset }) => asset !== undefined).slice(0, maxItems)
  const items = [anyAsset, ...asked.map(({ asset }) => asset ?? anyAsset)]
  const { result } = await call("POST /emoji_id/resolve", {
    query: { proof: atLeast !== undefined },
    body: { items: items.map((item) => ({ emoji_id: id, ...item })) },
  })
  // An answer that is missing has no proof either, and is refused.
  if (atLeast !== undefined)
    await Promise.all(
      items.map(({ asset, network }, i) =>
        client.verify(result[i] ?? {}, {
          emojiId: id,
          request: network === undefined ? ["resolve", asset] : ["resolve", asset, network],
          atLeast,
        }),
      ),
    )
  const addresses = new Map<string, AddressFacts>()
  for (const [i, { hash }] of asked.entries()) {
    const answer = result[i + 1]
    if (answer === undefined) continue
    const { address, error, memo, network, record, warnings } = answer
    // Another record of the same coin has been selected, so the network and the memo belong to that one.
    if (error === null && record?.hash !== hash) continue
    const doubt = error !== null && !unknown.includes(error.code) ? error.reason : undefined
    const other = warnings.find(({ code }) => code === "other_networks")?.message
    addresses.set(hash, { address, network, memo, warning: other ?? doubt })
  }
  const ownerChange = result.flatMap(({ warnings }) => warnings).find(({ code }) => code === "owner_changed")
  return { addresses, ownerChange }
}
