import type { Backoff } from "./backoff.ts"
import type { Credentials } from "./credentials.ts"
import type { SocketConstructor } from "./socket-like.ts"

/** `logged_out`: the login is over. What is open to everybody is gone on with, as nobody, where somebody listens to it. */
export type LiveStatus = "idle" | "connecting" | "connected" | "waiting" | "logged_out" | "closed"

export interface LiveOptions {
  readonly url: string
  readonly socket: SocketConstructor
  readonly credentials: Credentials
  readonly onStatus?: (status: LiveStatus) => void
  readonly backoff?: Backoff
}
