import type { Position } from "../turns/event-store.ts"
import type { Channel } from "./channel-names.ts"
import { eventHead } from "./protocol.ts"
import type { Subscription } from "./subscription.ts"

/** A channel with subscribers in this process, and the position up to which it is published here. */
export interface OpenChannel {
  readonly channel: Channel
  /** The topic that its sockets join in the transport. It is short, because every event names it. */
  readonly topic: string
  readonly eventHead: string
  /** Undefined until the first read. */
  position: Position | undefined
  /** True if a wake-up arrived before the position was known. */
  woken: boolean
  /** The parties at the last read, for channels that have parties. */
  parties: ReadonlyArray<string | null> | null
  readonly subscriptions: Set<Subscription>
  /** Subscriptions whose state is newer than the events published here so far. */
  readonly ahead: Set<Subscription>
  /** The number of sockets that receive live events. */
  live: number
}

let openChannels = 0

export const newOpenChannel = (channel: Channel): OpenChannel => ({
  channel,
  topic: (++openChannels).toString(36),
  eventHead: eventHead(channel.shown),
  position: undefined,
  woken: false,
  parties: null,
  subscriptions: new Set(),
  ahead: new Set(),
  live: 0,
})
