import type { PlacedEvent } from "../../actors/ports.ts"
import type { ChannelEvent } from "../../schema/turn.ts"

/** What `place_events` answers: the offsets in the order of the events, and what these share. */
export interface Places {
  readonly epoch: string | null
  readonly at: string
  readonly offsets: ReadonlyArray<number>
}

export const placed = (
  events: ReadonlyArray<ChannelEvent>,
  { at, epoch, offsets }: Places,
): ReadonlyArray<PlacedEvent> =>
  events.map(({ channel, data, type }, i) => ({ channel, type, data, offset: offsets[i]!, epoch, at }))
