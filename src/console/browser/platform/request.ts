import { ApiError } from "../../../client/api-error.ts"
import type { TokenResponse } from "../../../client/api-types.ts"
import { createClient } from "../../../client/create-client.ts"
import { NetworkError } from "../../../client/network-error.ts"
import type { Answer, Input, OperationName } from "../../../client/operation.ts"
import { fetchNoted } from "./http.ts"

export type { Answer, Input, OperationName }

/** The options of all clients of the console. Failed requests are reported to the user, who can repeat them. */
export const clientOptions = { baseUrl: location.origin, fetch: fetchNoted, retries: 0 }

/** Sends a call without a token. */
export const send = createClient(clientOptions).call

/**
 * A login that waits for its two-factor code. It has a client of its own, because the session of this tab begins only
 * when the code is verified.
 */
export const pendingLogin = ({ access_token: accessToken, refresh_token: refreshToken }: TokenResponse) =>
  createClient({ ...clientOptions, accessToken, refreshToken })

/** The record kinds and emoji that the console knows by name. */
export interface Vocabulary {
  readonly emoji: ReadonlyArray<{
    readonly group: string
    readonly members: ReadonlyArray<readonly [sign: string, name: string]>
  }>
  readonly categories: Readonly<Record<string, string>>
}

/** A message of the development outbox. */
export interface Mail {
  readonly kind: string
  readonly at: string
  readonly code?: string
  readonly link?: string
}

const internalCall = async <A>(path: string, init: RequestInit = {}): Promise<A> => {
  const response = await fetchNoted(path, init).catch((error: unknown) => {
    throw new NetworkError(error)
  })
  const body = await response.json().catch(() => ({}))
  if (!response.ok) throw new ApiError(response.status, response.headers, body)
  return body
}

/** The operations that only the console uses. The API documents do not contain them. */
export const internal = {
  vocabulary: () => internalCall<Vocabulary>("/console/vocabulary"),
  outbox: (to: string) => internalCall<ReadonlyArray<Mail>>(`/dev/outbox?to=${encodeURIComponent(to)}`),
  /** Returns the login of the session cookie, which a mailed link or a sign-in page has set. */
  browserLogin: () =>
    internalCall<TokenResponse>("/console/session", { method: "POST", credentials: "same-origin" }),
}
