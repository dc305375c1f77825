import type { Position } from "../turns/event-store.ts"
import type { Channel } from "./channel-names.ts"
import { eventHead } from "./protocol.ts"
import type { Subscription } from "./subscription.ts"

/** A channel somebody in this process listens to, and how far it has been published here. */
export interface OpenChannel {
  readonly channel: Channel
  /** What its sockets join in the transport: short, because every event names it. */
  readonly topic: string
  readonly eventHead: string
  /** Undefined until the first read. */
  position: Position | undefined
  /** Woken before the position was known. */
  woken: boolean
  /** As of the last read; for channels that have parties. */
  parties: ReadonlyArray<string | null> | null
  readonly subscriptions: Set<Subscription>
  /** Subscriptions that are ahead of this feed: they were shown a state it has not published up to yet. */
  readonly ahead: Set<Subscription>
  /** How many hear what is published. */
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
