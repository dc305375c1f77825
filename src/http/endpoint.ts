import type { HeaderKey } from "./request/header-key.ts"

/** A request copied out of the transport before the first await. */
export interface RawRequest {
  readonly id: string
  readonly method: string
  readonly path: string
  /** Path parameters in the order of the pattern, percent-decoded. */
  readonly params: ReadonlyArray<string>
  /** The query string as sent. */
  readonly query: string
  /** Only the headers the endpoint declared, lower-case; absent ones are empty. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The caller's address; empty unless the endpoint asked for it. */
  readonly address: string
}

export interface RawResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly body?: string | Uint8Array
}

/** What a prepared answer may look at while the transport's request is still alive. Nothing here may be kept. */
export interface RequestView {
  getParameter(index: number): string
  getQuery(): string | undefined
  getHeader(key: HeaderKey): string
}

/** What many prepared answers have in common: made once, kept for good. */
export interface PrecomputedHead {
  /** "200 OK" and the like. */
  readonly status: string
  /** Header lines joined by CR LF. */
  readonly lines: string
}

/** What an answer's own header lines may take. */
export const ownLinesBytes = 256

/**
 * An answer made before the request came, written as it is, at once: it may be another one after that. All of it is made by
 * us, nothing comes from a request.
 */
export interface Precomputed {
  readonly head: PrecomputedHead
  readonly body: string | Uint8Array
  /** Puts the header lines of this answer alone, each begun by CR LF, into the bytes and answers where they end. */
  copyOwn(into: Uint8Array, at: number): number
}

/** `lookup`: only {error}. `oauth`: {error, error_description}. `page`: for people. Otherwise {error, code, request_id}. */
export type ErrorBody = "lookup" | "oauth" | "page"

export type Method = "get" | "post" | "put" | "patch" | "del"

/** One row of the table as the server sees it. */
export interface Endpoint {
  readonly method: Method
  readonly path: string
  readonly headers: ReadonlyArray<string>
  readonly needsAddress: boolean
  /** 0: the operation takes no body; whatever is sent is ignored. */
  readonly bodyLimitBytes: number
  /**
   * Answers once through `respond`. Returns what is called when the client leaves or time is up: it stops the work, or
   * answers false and lets it go on to `respond` all the same.
   */
  readonly handle: (request: RawRequest, respond: (response: RawResponse) => void) => () => boolean
  readonly prepared?: (view: RequestView) => Precomputed | undefined
  /** The shape of a refusal's body, where the row does not answer the usual one. */
  readonly errorBody?: ErrorBody
  /** Scripts of other origins may not read the answers. */
  readonly sameOrigin?: true
}
