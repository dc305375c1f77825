import type { Route } from "../../../src/http/route.ts"

/** Who sends a request: the headers with the credentials, and a name for reports. */
export interface Caller {
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
}
export const anonymous: Caller = { name: "anonymous", headers: {} }

/** A request by its parts, which can be changed one by one before it is written. */
export interface Draft {
  readonly row: Route
  readonly caller: Caller
  readonly method: string
  readonly params: Readonly<Record<string, string>>
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  readonly headers: Readonly<Record<string, string>>
  /** The body as a JSON value. Undefined if the body is a form, or if there is none. */
  readonly json?: unknown
  readonly form?: Readonly<Record<string, string>>
  /** Replaces the path, the query string or the body by exactly these bytes. */
  readonly rawPath?: string
  readonly rawQuery?: string
  readonly rawBody?: Uint8Array
  /** Header lines that are added as they are. */
  readonly lines?: ReadonlyArray<string>
}

export const methodOf = ({ method }: Pick<Route, "method">): string =>
  method === "del" ? "DELETE" : method.toUpperCase()

/** Whether the request still names the operation of its row, so that the declarations of the row apply. */
export const namesItsRow = ({ method, rawPath, row }: Draft): boolean =>
  rawPath === undefined && method === methodOf(row)

/** Percent-encodes a text. A lone surrogate has no encoding, so the bytes of its invalid UTF-8 form are used. */
export const escaped = (text: string): string =>
  text.isWellFormed() ? encodeURIComponent(text) : `${encodeURIComponent(text.toWellFormed())}%ED%A0%80`

const pathOf = ({ params, rawPath, row }: Draft): string =>
  rawPath ?? row.path.replaceAll(/:(\w+)/g, (_, name: string) => escaped(params[name] ?? "") || "%20")

const queryOf = ({ query, rawQuery }: Draft): string =>
  rawQuery ?? query.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join("&")

const typeOf = ({ form, json }: Draft): string | undefined => {
  if (form !== undefined) return "application/x-www-form-urlencoded"
  return json === undefined ? undefined : "application/json"
}

const bodyOf = ({ form, json, rawBody }: Draft): Uint8Array | undefined => {
  if (rawBody !== undefined) return rawBody
  if (form !== undefined)
    return Buffer.from(
      Object.entries(form)
        .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
        .join("&"),
    )
  return json === undefined ? undefined : Buffer.from(JSON.stringify(json) ?? "null")
}

/** Header values are bytes. A text with other characters than those of Latin-1 is sent as UTF-8. */
const headerBytes = (text: string): Buffer =>
  [...text].some((character) => character.charCodeAt(0) > 0xff)
    ? Buffer.from(text)
    : Buffer.from(text, "latin1")

/** Writes the request as the bytes that are sent. */
export const written = (draft: Draft): Buffer => {
  const body = bodyOf(draft)
  const type = typeOf(draft)
  const query = queryOf(draft)
  const headers: Record<string, string> = {
    ...(type === undefined ? {} : { "content-type": type }),
    ...draft.caller.headers,
    ...draft.headers,
  }
  const lines = [
    `${draft.method} ${pathOf(draft)}${query === "" ? "" : `?${query}`} HTTP/1.1`,
    "host: localhost",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`content-length: ${body.length}`]),
    ...(draft.lines ?? []),
  ]
  const head = headerBytes(`${lines.join("\r\n")}\r\n\r\n`)
  return body === undefined ? head : Buffer.concat([head, body])
}

const shownBytes = 3000

/** The request as a text for the report of a failure. Bytes that are not printable are escaped. */
export const shown = (draft: Draft): string => {
  const bytes = written(draft)
  const text = JSON.stringify(bytes.subarray(0, shownBytes).toString("latin1"))
  return `${draft.row.id} as ${draft.caller.name}: ${text}${bytes.length > shownBytes ? ` (${bytes.length} bytes)` : ""}`
}
