import type { HeaderKey } from "./request/header-key.ts"

/** A request, copied out of the transport because the transport's request is not valid after the callback. */
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
  /** The caller's address; empty unless `needsAddress` is set. */
  readonly address: string
}

export interface RawResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly body?: string | Uint8Array
}

/** The parts of a request that select a precomputed response. Valid only during the native callback. */
export interface RequestView {
  getParameter(index: number): string
  getQuery(): string | undefined
  getHeader(key: HeaderKey): string
}

/** The status and headers that many precomputed responses share. Never changes after it is made. */
export interface PrecomputedHead {
  /** For example "200 OK". */
  readonly status: string
  /** Header lines joined by CR LF. */
  readonly lines: string
}

/** The most bytes that a response's own header lines may use. */
export const ownLinesBytes = 256

/**
 * A response whose bytes exist before the request arrives. It is written during the native callback, because its
 * memory may hold another response afterwards. It contains nothing from a request, so it needs no escaping.
 */
export interface Precomputed {
  readonly head: PrecomputedHead
  readonly body: string | Uint8Array
  /** Copies the response's own header lines to `into`, each after CR LF. Returns the end of the copied bytes. */
  copyOwn(into: Uint8Array, at: number): number
}

/** `lookup`: only {error}. `oauth`: {error, error_description}. `page`: HTML. Otherwise {error, code, request_id}. */
export type ErrorBody = "lookup" | "oauth" | "page"

export type Method = "get" | "post" | "put" | "patch" | "del"

/** A route in the form that the server mounts. */
export interface Endpoint {
  readonly method: Method
  readonly path: string
  readonly headers: ReadonlyArray<string>
  readonly needsAddress: boolean
  /** 0: the operation has no body; a body that is sent is ignored. */
  readonly bodyLimitBytes: number
  /**
   * Calls `respond` once. Returns a function to call when the client disconnects or the deadline passes: it stops the
   * work and returns true, or returns false if the work continues until `respond`.
   */
  readonly handle: (request: RawRequest, respond: (response: RawResponse) => void) => () => boolean
  readonly prepared?: (view: RequestView) => Precomputed | undefined
  /** The shape of error bodies, if it is not the usual one. */
  readonly errorBody?: ErrorBody
  /** Scripts of other origins cannot read the responses. */
  readonly sameOrigin?: true
}
