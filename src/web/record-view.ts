import { parsePaymentData } from "../../schema/directory/records/record-data.ts"
import { parseWebLink } from "../../schema/directory/records/record-link.ts"
import {
  findRecordClass,
  formatTag,
  parseTag,
  type RecordClass,
  tags,
} from "../../schema/directory/records/record-tag.ts"
import { nativeTickers } from "../../schema/directory/ticker.ts"
import { type Html, html } from "./html.ts"

const isPaid = (recordClass: RecordClass | undefined) =>
  recordClass === "crypto" || recordClass === "payment" || recordClass === "token"

const tickerOf = new Map([...nativeTickers].map(([ticker, tag]) => [tag, ticker]))

const names: ReadonlyMap<number, string> = new Map([
  [tags.registeredPubkey, "Registered key"],
  [tags.displayModifiers, "Skin tones"],
  [tags.description, "Description"],
  [tags.expiry, "Expiry"],
  [tags.redirect, "Redirect"],
  [tags.nickname, "Nickname"],
  [tags.preferredForm, "Preferred form"],
  [tags.chainPubkey, "Chain key"],
  [tags.hexPubkey, "Chain key (hex)"],
  [tags.base58Pubkey, "Chain key (base58)"],
  [tags.genericCrypto, "Other coin"],
  [tags.webUrl, "Web link"],
  [tags.text, "Text"],
  [tags.paymentAddress, "Payment address"],
  [tags.token, "Token"],
])

export const categoryName = (tag: string): string => {
  const number = parseTag(tag)
  if (number === undefined) return tag
  return names.get(number) ?? tickerOf.get(number) ?? tag
}

/**
 * The categories that a user can choose in a form: first the currencies of the partner (all coins if there are none),
 * then the generic currency, then links and texts.
 */
export const categoryChoices = (
  currencies: ReadonlyArray<string>,
): ReadonlyArray<readonly [tag: string, name: string]> => {
  const wanted = currencies.flatMap((currency) => {
    const tag = parseTag(currency) ?? nativeTickers.get(currency.toUpperCase())
    return tag === undefined ? [] : [formatTag(tag)]
  })
  const written = [tags.redirect, tags.webUrl, tags.nickname, tags.description, tags.text].map(formatTag)
  const coins = wanted.length > 0 ? wanted : [...nativeTickers.values()].map(formatTag)
  return [...new Set([...coins, formatTag(tags.genericCrypto), ...written])].map((tag) => [
    tag,
    categoryName(tag),
  ])
}

const partsOf = (tag: number, data: string): { readonly value: string; readonly more: string } => {
  const payment = isPaid(findRecordClass(tag)) ? parsePaymentData(tag, data) : undefined
  if (payment !== undefined) {
    const { address, description, longName, settlementNetwork, shortName } = payment
    const more = [shortName, longName, settlementNetwork, description].filter((part) => part !== undefined)
    return { value: address, more: more.join(" · ") }
  }
  const link = tag === tags.webUrl ? parseWebLink(data) : undefined
  return link === undefined ? { value: data, more: "" } : { value: link.url, more: link.name ?? "" }
}

export interface ReadRecord {
  readonly name: string
  /** The address, link or text, as users write it. */
  readonly value: string
  readonly more: string
  /** The URL, if the value is a link to a page. */
  readonly href: string | undefined
}

/** Reads a record for display: its category, its value, and its description if it has one. */
export const readRecord = ({ data, tag }: { readonly data: string; readonly tag: string }): ReadRecord => {
  const number = parseTag(tag) ?? 0
  const { more, value } = partsOf(number, data)
  const isLink = number === tags.webUrl || number === tags.redirect
  return {
    name: categoryName(tag),
    value: number === tags.ethereum ? `0x${value}` : value,
    more,
    href: isLink && /^https?:\/\//i.test(value) ? value : undefined,
  }
}

/** Shows a record: its category, its value, and its description if it has one. */
export const recordLine = (record: { readonly data: string; readonly tag: string }): Html => {
  const { more, name, value } = readRecord(record)
  return html`<span class="record"><strong>${name}</strong>${more !== "" && html` <span class="soft">${more}</span>`}
<code>${value}</code></span>`
}
