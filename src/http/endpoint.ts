import type { HeaderKey } from "./request/header-key.ts"
import type { WorkKind } from "./route.ts"

/** A copy of a request. The library's own request object is not valid after the native callback. */
export interface RawRequest {
  readonly id: string
  readonly method: string
  readonly path: string
  /** Path parameters in the order of the pattern, percent-decoded. */
  readonly params: ReadonlyArray<string>
  /** The query string as the client sent it, not decoded. */
  readonly query: string
  /** The headers that the endpoint declares, by lower-case name. A header that was not sent is an empty string. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The caller's address. Empty if the endpoint does not set `needsAddress`. */
  readonly address: string
  /** When the request was complete, in monotonic time (`performance.now`). A slow client sends its body later than its headers. */
  readonly arrivedAt: number
  /** The request is not begun and sends no statement after this time. Without it, the request is not limited. */
  readonly discardAt?: number
}

export interface RawResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly body?: string | Uint8Array
}

/** The parts of a request that select a precomputed response. They are valid only during the native callback. */
export interface RequestView {
  getParameter(index: number): string
  getQuery(): string | undefined
  getHeader(key: HeaderKey): string
}

/** The status and headers that many precomputed responses share. They never change. */
export interface PrecomputedHead {
  /** The status code as a number, for the metrics. */
  readonly code: number
  /** The status code and its text, for example "200 OK". */
  readonly status: string
  /** Header lines joined by CR LF. */
  readonly lines: string
}

/** The maximum size of the header lines that belong to only one precomputed response. */
export const ownLinesBytes = 256

/**
 * A response whose bytes exist before the request arrives. It must be written during the native callback, because its
 * memory may contain another response afterwards. It contains nothing from a request, so no escaping is needed.
 */
export interface Precomputed {
  readonly head: PrecomputedHead
  readonly body: string | Uint8Array
  /**
   * Copies the header lines that belong only to this response to `into`, starting at `at`. Each line begins with CR
   * LF. Returns the position after the last copied byte.
   */
  copyOwn(into: Uint8Array, at: number): number
}

/**
 * The form of error responses. `lookup`: JSON with only {error}. `oauth`: JSON with {error, error_description}.
 * `page`: HTML. Endpoints without a form send JSON with {error, code, request_id}.
 */
export type ErrorBody = "lookup" | "oauth" | "page"

export type Method = "get" | "post" | "put" | "patch" | "del"

/** A route in the form that the HTTP server uses. */
export interface Endpoint {
  readonly method: Method
  readonly path: string
  readonly headers: ReadonlyArray<string>
  readonly needsAddress: boolean
  /** The maximum size of the body. 0 means that the operation has no body. If a client sends one, it is ignored. */
  readonly bodyLimitBytes: number
  /**
   * Handles a request and calls `respond` once. Returns a function for the server to call when the client disconnects
   * or the deadline passes. That function stops the work and returns true; or it returns false if the work continues
   * until `respond` is called.
   */
  readonly handle: (request: RawRequest, respond: (response: RawResponse) => void) => () => boolean
  readonly prepared?: (view: RequestView) => Precomputed | undefined
  /** The form of error responses, if it is not the usual JSON. */
  readonly errorBody?: ErrorBody
  /** Set if scripts of other origins must not read the responses. */
  readonly sameOrigin?: true
  /** The header lines that tell clients that the route is deprecated (see `deprecationLines`). */
  readonly deprecationLines?: string
  /** Undefined if the requests are not limited. */
  readonly work?: WorkKind
  /** Returns true, and counts a refused request, if a new request is refused because of overload. */
  readonly refuses?: () => boolean
}
