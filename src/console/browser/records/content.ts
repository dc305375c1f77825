import type { Form } from "./kinds.ts"

/** What the fields of a form contain. A field that the form does not have is absent. */
export interface Content {
  /** The address, link, text or key. */
  readonly value: string
  /** The ticker of another coin, or the short name of a token. */
  readonly ticker?: string
  readonly longName?: string
  readonly network?: string
  /** The name of a link. */
  readonly linkName?: string
  readonly description?: string
  readonly isDefault?: boolean
  /** Not shown. A changed address loses its signature, because the signature is about the address. */
  readonly signature?: string
}

const namedLink = /^(?!https?:\/\/)([^|]+)\|(https?:\/\/.*)$/is

/** Joins the fields with bars, without the empty fields at the end. */
const joined = (fields: ReadonlyArray<string | undefined>): string =>
  fields
    .map((text) => text ?? "")
    .join("|")
    .replace(/\|+$/, "")

const readAddress = ([
  value = "",
  description = "",
  signature = "",
  flag,
]: ReadonlyArray<string>): Content => ({
  value,
  description,
  signature,
  isDefault: flag === "t",
})

const writeAddress = ({
  description,
  isDefault,
  signature,
  value,
}: Content): ReadonlyArray<string | undefined> => [value, description, signature, isDefault ? "t" : undefined]

const readers: Readonly<Partial<Record<Form, (data: string) => Content>>> = {
  address: (data) => readAddress(data.split("|")),
  otherCoin: (data) => {
    const [ticker = "", ...fields] = data.split("|")
    return { ...readAddress(fields), ticker }
  },
  token: (data) => {
    const [ticker = "", longName = "", network = "", value = "", description = "", signature = ""] =
      data.split("|")
    return { value, ticker, longName, network, description, signature }
  },
  link: (data) => {
    const [, linkName = "", value = data] = namedLink.exec(data) ?? []
    return { value, linkName }
  },
}

const writers: Readonly<Partial<Record<Form, (content: Content) => string>>> = {
  address: (content) => joined(writeAddress(content)),
  otherCoin: (content) => joined([content.ticker, ...writeAddress(content)]),
  token: ({ description, longName, network, signature, ticker, value }) =>
    joined([ticker, longName, network, value, description, signature]),
  link: ({ linkName, value }) => (linkName ? `${linkName}|${value}` : value),
}

/** Reads the data of a record into the fields of its form. */
export const readContent = (form: Form, data: string): Content => readers[form]?.(data) ?? { value: data }

/** Writes the fields of a form as the data of a record. */
export const writeContent = (form: Form, content: Content): string =>
  writers[form]?.(content) ?? content.value
