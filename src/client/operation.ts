import type { Operations } from "./api-types.ts"

/** An operation of the API: its method and path, for example `"GET /emoji_id/{emoji_id}"`. */
export type OperationName = keyof Operations

type Parameters<P> = keyof P extends never ? {} : { readonly params: P }
type Query<Q> = keyof Q extends never ? {} : {} extends Q ? { readonly query?: Q } : { readonly query: Q }
type Body<B> = [B] extends [undefined] ? {} : { readonly body: B }

export interface CallOptions {
  /** Ends the call, also while it waits for a retry. */
  readonly signal?: AbortSignal
  /**
   * Requests with the same key are executed once. Without it, the client generates a key for each call. Pass one to
   * repeat a call after the program was restarted.
   */
  readonly idempotencyKey?: string
  /** As `retries` of `createClient`, for this call. */
  readonly retries?: number
  /** As `onCodeRequired` of `createClient`, for this call. */
  readonly onCodeRequired?: () => Promise<unknown>
}

type InputOf<N extends OperationName> = Parameters<Operations[N]["params"]> &
  Query<Operations[N]["query"]> &
  Body<Operations[N]["body"]> &
  CallOptions

/** The argument may be omitted if all of its members are optional. */
export type Input<N extends OperationName> =
  {} extends InputOf<N> ? readonly [input?: InputOf<N>] : readonly [input: InputOf<N>]

export type Answer<N extends OperationName> = Operations[N]["answer"]
