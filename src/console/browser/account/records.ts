import { h } from "../parts/dom.ts"
import type { Vocabulary } from "../platform/request.ts"

export type Categories = Vocabulary["categories"]

export interface ShownRecord {
  readonly tag: string
  readonly data: string
}

const categoryName = (tag: string, categories: Categories): string => categories[tag] ?? tag

/** Returns the data as users write it. Ethereum addresses are stored without `0x`, so it is added. */
export const writtenData = ({ data, tag }: ShownRecord): string => (tag === "0x1004" ? `0x${data}` : data)

const webLink = /^(?!https?:\/\/)([^|]+)\|(https?:\/\/.*)$/is

interface Parts {
  readonly value: string
  readonly more: ReadonlyArray<string | undefined>
  readonly name?: string | undefined
  readonly isDefault?: boolean
}

/** Reads the fields of an address record: `address|description|signature|default`. */
const paid = ([value = "", description, _signature, isDefault]: ReadonlyArray<string>): Parts => ({
  value,
  more: [description],
  isDefault: isDefault === "t",
})

/** Splits record data into its value and its other fields. In categories without fields, `|` is part of the text. */
export const partsOf = (tag: string, data: string): Parts => {
  const fields = data.split("|")
  const high = Number.parseInt(tag, 16) >> 8
  if (tag === "0x6300") {
    const [short, long, network, value = "", description] = fields
    return { value, more: [short, long, network, description] }
  }
  if (tag === "0x3fff") return { name: fields[0], ...paid(fields.slice(1)) }
  if ((high >= 0x10 && high <= 0x3f) || high === 0x62) return paid(fields)
  const [, name, url] = (tag === "0x4001" && webLink.exec(data)) || []
  return url === undefined ? { value: data, more: [] } : { value: url, more: [name] }
}

/** Shows a record. `isChosen` says whether payers use this record of several; without it, its own mark is shown. */
export const recordView = (
  { data, tag }: ShownRecord,
  categories: Categories,
  isChosen: boolean | undefined = undefined,
) => {
  const { isDefault = false, more, name, value } = partsOf(tag, writtenData({ data, tag }))
  const details = more.filter(Boolean)
  return h(
    "span",
    { class: "record" },
    h(
      "span",
      { class: "record-name" },
      h("strong", {}, name ?? categoryName(tag, categories)),
      (isChosen ?? isDefault) && h("span", { class: "badge good" }, "default"),
    ),
    h("code", {}, value),
    details.length > 0 && h("span", { class: "soft small" }, details.join(" · ")),
  )
}
