import { formatTag, tags } from "../../../../schema/directory/records/record-tag.ts"
import { type Asset, findAsset } from "../../../../schema/directory/resolve/asset.ts"
import { type Network, networks } from "../../../../schema/directory/resolve/network.ts"
import { nativeTickers } from "../../../../schema/directory/ticker.ts"
import type { Categories } from "../account/records.ts"

/** How the data of a record is entered. Each form has its own fields, see `fields.ts`. */
export type Form = "address" | "otherCoin" | "token" | "link" | "url" | "line" | "text" | "key" | "any"

/** A kind of record that a user can add. */
export interface Kind {
  readonly tag: string
  readonly name: string
  /** What the record is for. */
  readonly hint: string
  readonly form: Form
  readonly group: Group
  /** The other words by which the kind is found. */
  readonly words: string
  readonly ticker?: string
}

export const groups = ["Popular", "Links and texts", "Coins and tokens", "Keys", "Advanced"] as const
export type Group = (typeof groups)[number]

const popular: ReadonlyArray<string> = ["BTC", "ETH", "SOL", "XMR", "LTC", "DOGE"]
const isPopular = ({ ticker = "" }: Pick<Kind, "ticker">): boolean => popular.includes(ticker)
const spelled: Readonly<Record<string, string>> = {
  "xrp-ledger": "XRP Ledger",
  bsc: "BNB Smart Chain",
  ton: "TON",
  iota: "IOTA",
  icon: "ICON",
  zksync: "zkSync",
}

/** The name of a network for people, such as "Bitcoin Cash". */
export const networkName = ({ name }: Network): string =>
  spelled[name] ??
  name
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ")

/** The network of an asset that is the coin of this network. */
const ownNetwork = ({ networks, ticker }: Asset): Network | undefined =>
  networks.find(({ coin }) => coin === ticker)

/** The networks from which the user must choose: those of a token that exists on several networks. */
export const networkChoices = (kind: Kind): ReadonlyArray<Network> => {
  const asset = kind.form === "address" && kind.ticker !== undefined ? findAsset(kind.ticker) : undefined
  if (asset === undefined || ownNetwork(asset) !== undefined || asset.networks.length < 2) return []
  return asset.networks
}

const coinHint = (asset: Asset | undefined): string => {
  if (asset === undefined) return "The address to which others send it."
  const own = ownNetwork(asset) ?? (asset.networks.length === 1 ? asset.networks[0] : undefined)
  if (own !== undefined) return `Network: ${networkName(own)}.`
  const [first, second, ...others] = asset.networks.map(networkName)
  return `On ${first}, ${second}${others.length > 0 ? ` and ${others.length} more` : ""}.`
}

const coins: ReadonlyArray<Kind> = [...nativeTickers].map(([ticker, tag]) => {
  const asset = findAsset(ticker)
  const found = asset?.networks ?? []
  return {
    tag: formatTag(tag),
    ticker,
    name: ticker === "XMR_SUB" ? "XMR subaddress" : ticker,
    hint: coinHint(asset),
    form: "address",
    group: popular.includes(ticker) ? "Popular" : "Coins and tokens",
    words: found.map((network) => [network.name, ...network.aliases].join(" ")).join(" "),
  }
})

const written = (tag: number, name: string, form: Form, group: Group, hint: string, words = ""): Kind => ({
  tag: formatTag(tag),
  name,
  form,
  group,
  hint,
  words,
})

/** All kinds. The order is the order in which they are shown. */
export const kinds: ReadonlyArray<Kind> = [
  ...coins
    .filter(isPopular)
    .toSorted((a, b) => popular.indexOf(a.ticker ?? "") - popular.indexOf(b.ticker ?? "")),
  ...coins.filter((coin) => !isPopular(coin)),
  written(
    tags.webUrl,
    "Web link",
    "link",
    "Popular",
    "A page that visitors of the id can open.",
    "url site homepage",
  ),
  written(
    tags.redirect,
    "Redirect",
    "url",
    "Links and texts",
    "The page that opens when someone follows the id.",
    "url site homepage",
  ),
  written(tags.nickname, "Nickname", "line", "Links and texts", "A short name that is shown with the id."),
  written(tags.description, "Description", "text", "Links and texts", "What this id is for.", "about bio"),
  written(tags.text, "Text", "text", "Links and texts", "Any text.", "note"),
  written(
    tags.genericCrypto,
    "Other coin",
    "otherCoin",
    "Coins and tokens",
    "A coin that is not in this list.",
    "generic crypto currency",
  ),
  written(
    tags.token,
    "Token",
    "token",
    "Coins and tokens",
    "A token on the network that you name.",
    `erc20 ${networks.map(({ name }) => name).join(" ")}`,
  ),
  written(
    tags.paymentAddress,
    "Payment address",
    "address",
    "Coins and tokens",
    "An address of a payment service.",
    "pay bank account",
  ),
  written(tags.base58Pubkey, "Chain key (base58)", "key", "Keys", "A public key of a blockchain, in base58."),
  written(tags.hexPubkey, "Chain key (hex)", "key", "Keys", "A public key of a blockchain, in hex."),
  written(tags.chainPubkey, "Chain key", "key", "Keys", "A public key of a blockchain, in hex."),
  written(
    tags.displayModifiers,
    "Skin tones",
    "line",
    "Advanced",
    "How the id is shown: the id itself, written with skin tones.",
  ),
  written(tags.preferredForm, "Preferred form", "line", "Advanced", "How you prefer the id to be written."),
]

const byTag: ReadonlyMap<string, Kind> = new Map(kinds.map((kind) => [kind.tag, kind]))

/** The kind of a record, also of one that cannot be added here. */
export const kindOf = (tag: string, categories: Categories): Kind =>
  byTag.get(tag) ?? {
    tag,
    name: categories[tag] ?? tag,
    hint: "",
    form: "any",
    group: "Advanced",
    words: "",
  }

/** The tags that only the operator may change. */
const operatorTags: ReadonlySet<string> = new Set([tags.registeredPubkey, tags.expiry].map(formatTag))
export const isOfOperator = (tag: string): boolean => operatorTags.has(tag)

/** Returns the kinds that match all typed words. */
export const findKinds = (typed: string): ReadonlyArray<Kind> => {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean)
  return kinds.filter((kind) => {
    const text = `${kind.name} ${kind.hint} ${kind.words} ${kind.tag}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}
