import { formatTag, tags } from "../../../../schema/directory/records/record-tag.ts"
import { networks } from "../../../../schema/directory/resolve/network.ts"
import type { Values } from "../parts/actions.ts"
import { type Child, choice, field, h, tick } from "../parts/dom.ts"
import type { Content } from "./content.ts"
import { type Form, type Kind, networkChoices, networkName } from "./kinds.ts"

let areas = 0

/** A field for a text of several lines. */
export const textArea = (label: string, name: string, value: string, hint?: string, rows = 4) => {
  const id = `area-${++areas}`
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    h("textarea", { id, name, rows, "aria-describedby": hint && `${id}-hint`, value }),
    hint && h("p", { id: `${id}-hint`, class: "soft small hint" }, hint),
  )
}

const addressHint = (kind: Kind): string =>
  kind.ticker === undefined
    ? "Copy it from your wallet. Never type an address by hand."
    : `The address to which others send ${kind.name}. Copy it from your wallet.`

const descriptionField = ({ description = "" }: Content) =>
  field(
    "Description (optional)",
    { name: "description", maxlength: "200", value: description },
    "For people who pay, such as “savings”. Everyone can see it.",
  )

const line = (label: string, value: string, hint?: string, more: { readonly [name: string]: string } = {}) =>
  field(label, { name: "value", maxlength: "4096", spellcheck: "false", value, ...more }, hint)

const networkField = (kind: Kind) => {
  const found = networkChoices(kind)
  return (
    found.length > 0 &&
    choice("Network", "network", [
      ["", "Not named: wallets take it from the address"],
      ...found.map((one) => [one.name, networkName(one)] as const),
    ])
  )
}

const otherNetworkField = ({ network = "" }: Content) => [
  field(
    "Network",
    { name: "network", maxlength: "64", list: "networks", value: network },
    "Such as ethereum or solana.",
  ),
  h(
    "datalist",
    { id: "networks" },
    networks.map(({ name }) => h("option", { value: name })),
  ),
]

type Draw = (kind: Kind, content: Content) => Child

const drawers: Readonly<Record<Form, Draw>> = {
  address: (kind, content) => [
    line("Address", content.value, addressHint(kind)),
    networkField(kind),
    descriptionField(content),
  ],
  otherCoin: (kind, content) => [
    field(
      "Ticker of the coin",
      { name: "ticker", maxlength: "16", value: content.ticker ?? "" },
      "Such as KAS.",
    ),
    line("Address", content.value, addressHint(kind)),
    descriptionField(content),
  ],
  token: (kind, content) => [
    field("Short name", { name: "ticker", maxlength: "64", value: content.ticker ?? "" }, "Such as USDC."),
    field("Long name (optional)", { name: "longName", maxlength: "64", value: content.longName ?? "" }),
    otherNetworkField(content),
    line("Address", content.value, addressHint(kind)),
    descriptionField(content),
  ],
  link: (_, content) => [
    line("Web address", content.value, "The complete address, such as https://example.com.", {
      inputmode: "url",
    }),
    field(
      "Name of the link (optional)",
      { name: "linkName", maxlength: "64", value: content.linkName ?? "" },
      "Such as blog. It is shown instead of the address.",
    ),
  ],
  url: (kind, content) => line("Web address", content.value, kind.hint, { inputmode: "url" }),
  line: (kind, content) => line(kind.name, content.value, kind.hint),
  text: (kind, content) => textArea(kind.name, "value", content.value, kind.hint),
  key: (kind, content) => line("Public key", content.value, kind.hint),
  any: (kind, content) => textArea(kind.name, "value", content.value),
}

/** The fields of the form of a kind. */
export const recordFields = (kind: Kind, content: Content): Child => drawers[kind.form](kind, content)

export const defaultTick = (isDefault: boolean) =>
  tick("Make this the default", { name: "isDefault", checked: isDefault })

/**
 * Reads the fields. `before` is the content of the record that is changed. Its signature is kept only with its address,
 * because a signature is about one address.
 */
export const contentOf = (values: Values, before: Content): Content => {
  const value = values.text("value").trim()
  return {
    value,
    ticker: values.text("ticker").trim(),
    longName: values.text("longName").trim(),
    network: values.text("network").trim(),
    linkName: values.text("linkName").trim(),
    description: values.text("description").trim(),
    isDefault: values.isTicked("isDefault"),
    ...(before.signature && before.value === value ? { signature: before.signature } : {}),
  }
}

/** The kind that is stored. A token with a named network is stored as a token record. */
export const storedKind = (
  kind: Kind,
  content: Content,
): { readonly kind: Kind; readonly content: Content } =>
  kind.form === "address" && content.network
    ? {
        kind: { ...kind, form: "token", tag: formatTag(tags.token) },
        content: { ...content, ticker: kind.ticker ?? "" },
      }
    : { kind, content }
