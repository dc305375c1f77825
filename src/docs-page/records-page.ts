import { normalizeRecord, RecordRefused } from "../../schema/directory/records/record.ts"
import { addressForm, listedKinds, type RecordKind } from "../../schema/directory/records/record-kind.ts"
import { findSingleValueKey } from "../../schema/directory/records/record-selection.ts"
import { findRecordClass, formatTag, recordClasses } from "../../schema/directory/records/record-tag.ts"
import { findAsset } from "../../schema/directory/resolve/asset.ts"
import { nativeTickers } from "../../schema/directory/ticker.ts"
import { type Content, type Html, html } from "../web/html.ts"
import { codeBlock, prose } from "./layout.ts"
import { tableView } from "./markdown.ts"

const code = (text: string): Html => html`<code>${text}</code>`

/** How many records of a category an id can have. */
const countOf = (tag: string, data: string): string => {
  const key = findSingleValueKey({ tag, data })
  if (key === undefined) return "many"
  return key === tag ? "one" : "one per ticker"
}

/** A pattern such as NAME|URL is shown as code, and a description as text. */
const formView = (form: string): Content => (/^[A-Z|]+$/.test(form) ? code(form) : form)

const kindRow = ({ example, form, name, tag }: (typeof listedKinds)[number]): ReadonlyArray<Content> => [
  html`<a href="#tag-${tag}">${code(tag)}</a>`,
  name,
  countOf(tag, example),
  formView(form),
]

const refusedText = (tag: string, data: string): string => {
  const refused = normalizeRecord({ tag, data })
  return refused instanceof RecordRefused ? refused.message : ""
}
const storedForm = (tag: string, data: string): string => {
  const record = normalizeRecord({ tag, data })
  return record instanceof RecordRefused ? data : record.data
}

const kindView = ({
  check,
  example,
  form,
  name,
  refused,
  tag,
}: RecordKind & { readonly tag: string }): Html => {
  const stored = storedForm(tag, example)
  return html`<section class="operation" id="tag-${tag}"><h3>${code(tag)} ${name}</h3>
<p>Data: ${formView(form)}. An id can have ${countOf(tag, example)}. ${prose(check)}</p>
${codeBlock(JSON.stringify({ tag, data: example }))}
${stored !== example && html`<p>Stored as ${code(stored)}. Lookups return this form.${tag === "0x1004" && html` The operations payment and resolve return it with 0x and an EIP-55 checksum.`}</p>`}
${refused !== undefined && html`<p class="soft">${code(refused)} is refused: ${refusedText(tag, refused)}</p>`}</section>`
}

/** The ranges of tags, as first tag, last tag and class. */
const ranges = recordClasses.flatMap(([last, recordClass], i) => {
  const first = ((recordClasses[i - 1]?.[0] ?? -1) + 1) << 8
  return recordClass === null ? [] : [{ first, last: (last << 8) | 0xff, recordClass }]
})

const coinRow = ([ticker, tag]: readonly [string, number]): ReadonlyArray<Content> => [
  ticker,
  code(formatTag(tag)),
  findAsset(ticker)
    ?.networks.map(({ name }) => name)
    .join(", ") ?? "none: the address has no known form",
]

const members: ReadonlyArray<readonly [member: string, meaning: string]> = [
  [
    "bypass_single_restrictions",
    "`true` keeps the older records of a single-value category. The id then has several, for example two Bitcoin addresses. [Payment](/docs/lookup#lookupEmojiIDPayment) and [resolve](/docs/lookup#resolveEmojiID) use the newest default one, or else the newest one.",
  ],
  [
    "merkle_root",
    "The Merkle root of the hashes of all records that the id has after the edit, as 64 hex digits. To calculate it, sort the hashes, and hash each pair with Blake2b-256, level by level, until one is left. A hash without a partner moves to the next level unchanged. If the records have another root, nothing is written and the answer is 422. So the result contains no edit of somebody else that you have not seen.",
  ],
  [
    "signature",
    "The Ed25519 signature of the bytes of `merkle_root`, as 128 hex digits, by the key that owns the id. It is required with `merkle_root` if the owner keeps the key. An id whose key the service keeps needs none.",
  ],
]

const addressParts: ReadonlyArray<readonly [part: string, meaning: string]> = [
  [
    "ADDRESS",
    "The address, with `?memo=TEXT` or `?dt=NUMBER` behind it if the payment needs a memo or a destination tag.",
  ],
  ["DESCRIPTION", "A text for people, for example Savings. May be empty."],
  [
    "SIGNATURE",
    "A signature of the address that wallets can check. The service stores it and does not check it. May be empty.",
  ],
  ["DEFAULT", "`t` marks the default record of its category. `f` or nothing: it is not the default."],
]

export const recordsPage =
  (): Html => html`<p>An emoji id leads to records. A record has a <strong>tag</strong>, which names its category, its <strong>data</strong>, and a
<strong>hash</strong>, which identifies it. <a href="/docs/lookup#lookupEmojiID">Look up</a> returns them, and
<a href="/docs/directory#editEmojiID">PATCH /emoji_id/{emoji_id}</a> adds and removes them.</p>
${codeBlock(JSON.stringify({ insert: [{ tag: "0x1003", data: listedKinds.find(({ tag }) => tag === "0x1003")?.example }] }), "Body of the PATCH")}
<h2 id="tags">Tags</h2>
<p>A tag is <code>0x</code> and one to four hex digits. A tag without 0x is refused, because it may be meant as a decimal number. Responses
have four digits in lower case. “One” in the table means a single-value category: a new record replaces the old one.</p>
${tableView(["tag", "name", "per id", "form of the data"], listedKinds.map(kindRow))}
<p>Other tags are allowed in these ranges. Tags outside are refused.</p>
${tableView(
  ["tags", "class", "per id"],
  ranges.map(({ first, last, recordClass }) => [
    html`${code(formatTag(first))} to ${code(formatTag(last))}`,
    recordClass,
    // The last tag of a range has no rule of its own, except 0x3fff.
    countOf(formatTag(findRecordClass(last - 1) === recordClass ? last - 1 : last), "x"),
  ]),
)}
<h2 id="address-data">Addresses</h2>
<p>Tags of coins, 0x3fff and 0x6200 have the data <code>${addressForm}</code>. Only the address is required, and later parts may be left out.
With tag 0x3fff, the ticker of the coin stands before it.</p>
${tableView(
  ["part", "meaning"],
  addressParts.map(([part, meaning]) => [code(part), prose(meaning)]),
)}
<h2 id="default">Default records</h2>
<p>An id can have several records for one coin: if they were written with <code>bypass_single_restrictions</code>, or if one has the tag of
the coin and another has tag 0x3fff with the ticker of the coin. A payer gets the newest record with <code>DEFAULT</code> <code>t</code>. If there is none, the payer gets the newest record.</p>
<h2 id="edit-members">Members of the edit</h2>
${tableView(
  ["member", "meaning"],
  members.map(([member, meaning]) => [code(member), prose(meaning)]),
)}
<h2 id="kinds">Every kind</h2>
${listedKinds.map(kindView)}
<h2 id="coins">Coins with a tag of their own</h2>
<p>The data is <code>${addressForm}</code>. <code>GET /emoji_id/{emoji_id}/{tag}</code> takes the ticker or the tag. The first network is the one that
<a href="/docs/lookup#resolveEmojiID">resolve</a> uses for an address whose form fits several.</p>
${tableView(["ticker", "tag", "networks"], [...nativeTickers].toSorted(([, a], [, b]) => a - b).map(coinRow))}
<p><a href="/docs/for-wallets#networks-and-assets">Networks and assets</a> lists the other names of the networks and all tokens.</p>`
