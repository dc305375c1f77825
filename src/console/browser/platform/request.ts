import type { TokenResponse } from "../../../client/api-types.ts"
import type { Answer, Input, OperationName } from "../../../client/operation.ts"
import { type Exchange, exchange, type RequestOptions } from "./http.ts"

interface LooseInput {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

export type { Answer, Input, OperationName }

const queryOf = (query: Readonly<Record<string, unknown>>): string => {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) form.set(name, String(value))
  const text = form.toString()
  return text === "" ? "" : `?${text}`
}

/** Returns the method and the URL of a call, such as `GET /orders/{id}` with its parameters. */
const targetOf = (
  name: OperationName,
  { params = {}, query = {} }: LooseInput,
): readonly [string, string] => {
  const [method = "GET", pattern = "/"] = name.split(" ")
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(params[part] ?? ""))
  return [method, path + queryOf(query)]
}

/** Sends a call once, with the given token instead of the token of the session. Also returns the headers. */
export const exchangeWith = <N extends OperationName>(
  options: Omit<RequestOptions, "body">,
  name: N,
  ...[input]: Input<N>
): Promise<Exchange> => {
  const given = (input ?? {}) as LooseInput
  const [method, url] = targetOf(name, given)
  return exchange(method, url, { ...options, body: given.body })
}

export const sendWith = async <N extends OperationName>(
  options: Omit<RequestOptions, "body">,
  name: N,
  ...input: Input<N>
): Promise<Answer<N>> => (await exchangeWith(options, name, ...input)).body as Answer<N>

/** Sends a call without a token. */
export const send = <N extends OperationName>(name: N, ...input: Input<N>): Promise<Answer<N>> =>
  sendWith({}, name, ...input)

/** The record kinds and emoji that the console knows by name. */
export interface Vocabulary {
  readonly emoji: ReadonlyArray<{
    readonly group: string
    readonly members: ReadonlyArray<readonly [sign: string, name: string]>
  }>
  readonly categories: Readonly<Record<string, string>>
  readonly choices: ReadonlyArray<string>
}

/** A message of the development outbox. */
export interface Mail {
  readonly kind: string
  readonly at: string
  readonly code?: string
  readonly link?: string
}

/** The operations that only the console uses. The API documents do not contain them. */
export const internal = {
  vocabulary: async () => (await exchange("GET", "/console/vocabulary")).body as Vocabulary,
  outbox: async (to: string) =>
    (await exchange("GET", `/dev/outbox?to=${encodeURIComponent(to)}`)).body as ReadonlyArray<Mail>,
  /** Returns the login of the session cookie, which a mailed link or a sign-in page has set. */
  browserLogin: async () =>
    (await exchange("POST", "/console/session", { withCookies: true })).body as TokenResponse,
}
