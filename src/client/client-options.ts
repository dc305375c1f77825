import type { Backoff } from "./backoff.ts"
import type { CredentialOptions } from "./credentials.ts"
import type { LiveStatus } from "./live/options.ts"
import type { SocketConstructor } from "./live/socket-like.ts"
import type { CallOptions } from "./operation.ts"

export type ClientOptions = CredentialOptions & {
  /** The public address of the service. Required. */
  readonly baseUrl: string
  /** Sends the requests instead of the global `fetch`, for example to read headers. */
  readonly fetch?: typeof fetch
  /** Required in Node 20, which has no global WebSocket: `import { WebSocket } from "ws"`. */
  readonly WebSocket?: SocketConstructor
  /** Called with each new state of the live connection, such as `connected` and `waiting`. */
  readonly onLiveStatus?: (status: LiveStatus) => void
  /** The delays between attempts to connect to `/live`: `{ firstMs, longestMs }`. Default 500 and 30,000. */
  readonly backoff?: Backoff
  /**
   * How often a call is repeated after a network failure, or if the service asks for it with `Retry-After`. Default 2.
   * Repeated requests have the same Idempotency-Key, so they are executed once.
   */
  readonly retries?: number
  /** How long a request may take before it counts as failed. Default 60,000. */
  readonly timeoutMs?: number
  /**
   * Called when an operation needs a new two-factor code (status 424). Ask the user for the code, and pass it to
   * `enterCode`. When the promise resolves, the call is repeated. If it rejects, the call fails with its error.
   */
  readonly onCodeRequired?: CallOptions["onCodeRequired"]
}

export interface LoopOptions {
  readonly signal?: AbortSignal
}

export interface ProofOptions {
  /** If true, each report has a proof, for `verify`. */
  readonly proof?: boolean
}
