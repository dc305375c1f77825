import type { PlacedEvent } from "../../actors/ports.ts"
import type { ChannelEvent } from "../../schema/turn.ts"

/** What `place_events` answers: the offsets in the order of the events, and what these share. */
export interface Places {
  readonly epoch: string | null
  readonly at: string
  readonly offsets: ReadonlyArray<number>
}

/** The database locks channels in the order of their names, and has no work with events that come so. */
const byChannel = (a: ChannelEvent, b: ChannelEvent): number =>
  a.channel < b.channel ? -1 : a.channel > b.channel ? 1 : 0

/** Events on their way into the database. What they say is written down once, for it and for whoever listens here. */
export class EventsToPlace {
  readonly #events: ReadonlyArray<ChannelEvent>
  readonly #data: ReadonlyArray<string>

  constructor(events: ReadonlyArray<ChannelEvent>) {
    this.#events = events.toSorted(byChannel)
    this.#data = this.#events.map(({ data }) => JSON.stringify(data))
  }

  /** As the database takes them. */
  get json(): string {
    const one = ({ channel, type }: ChannelEvent, i: number) =>
      `{"channel":${JSON.stringify(channel)},"type":${JSON.stringify(type)},"data":${this.#data[i]}}`
    return `[${this.#events.map(one).join(",")}]`
  }

  placed({ at, epoch, offsets }: Places): ReadonlyArray<PlacedEvent> {
    const one = ({ channel, type }: ChannelEvent, i: number) => ({
      channel,
      type,
      data: this.#data[i]!,
      offset: offsets[i]!,
      epoch,
      at,
    })
    return this.#events.map(one)
  }
}
