import type { Backoff } from "../backoff.ts"
import type { Credentials } from "../credentials.ts"
import type { SocketConstructor } from "./socket-like.ts"

/**
 * `logged_out`: the login has ended. If there are subscriptions to public channels or pending lookups, the client
 * reconnects without a token.
 */
export type LiveStatus = "idle" | "connecting" | "connected" | "waiting" | "logged_out" | "closed"

export interface LiveOptions {
  readonly url: string
  readonly socket: SocketConstructor
  readonly credentials: Pick<Credentials, "apiKey" | "canRenew" | "renew" | "token">
  readonly onStatus?: (status: LiveStatus) => void
  readonly backoff?: Backoff
}
