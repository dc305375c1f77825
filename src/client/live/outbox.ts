import type { ClientFrame } from "../api-types.ts"
import { burstFrames, framesPerSecond } from "./protocol-constants.ts"

/**
 * The share of the server's rate limit that the outbox uses. The rest is for frames that are sent without the outbox
 * (`connect`, `ping`), and for frames that a slow network delays, because they can arrive together with later frames.
 */
const share = 0.8
const burst = burstFrames * share
const perSecond = framesPerSecond * share

/** Queues frames to stay within the rate limit of the server, which closes a socket that exceeds it. */
export class Outbox {
  readonly #write: (frame: ClientFrame) => void
  #waiting: Array<ClientFrame> = []
  #left = burst
  #at = Date.now()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(write: (frame: ClientFrame) => void) {
    this.#write = write
  }

  send(frame: ClientFrame): void {
    this.#waiting.push(frame)
    if (this.#timer === undefined) this.#flush()
  }

  /** Drops the queued frames, because the socket has changed or is closed. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#waiting = []
    this.#left = burst
  }

  #flush(): void {
    const now = Date.now()
    this.#left = Math.min(burst, this.#left + (Math.max(0, now - this.#at) / 1000) * perSecond)
    this.#at = now
    const ready = this.#waiting.splice(0, Math.floor(this.#left))
    this.#left -= ready.length
    for (const frame of ready) this.#write(frame)
    this.#timer = this.#waiting.length === 0 ? undefined : setTimeout(() => this.#flush(), 1000 / perSecond)
  }
}
