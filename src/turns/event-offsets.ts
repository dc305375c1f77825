import type { PlacedEvent } from "../../actors/ports.ts"
import type { ChannelEvent } from "../../schema/turn.ts"

/** What `place_said` answers: where each of the channels has come to, in the order they were given, and what they share. */
export interface Places {
  readonly epoch: string | null
  readonly at: string
  readonly ends: ReadonlyArray<number>
}

interface Heard {
  readonly name: string
  events: number
  /** From one, in the order the channels are given in. */
  number: number
}

interface ToPlace {
  readonly event: ChannelEvent
  readonly heard: Heard
  /** How many the channel got before it, of these. */
  readonly before: number
}

const byName = ({ name: a }: Heard, { name: b }: Heard): number => (a < b ? -1 : a > b ? 1 : 0)
const after = ({ before, heard }: ToPlace): number => heard.events - before - 1

/** The events of some turns on their way into the database. */
export class EventsToPlace {
  readonly #turns: ReadonlyArray<ReadonlyArray<ToPlace>>
  readonly #channels: ReadonlyArray<Heard>

  constructor(turns: ReadonlyArray<ReadonlyArray<ChannelEvent>>) {
    const channels = new Map<string, Heard>()
    this.#turns = turns.map((events) =>
      events.map((event) => {
        let heard = channels.get(event.channel)
        if (heard === undefined) {
          heard = { name: event.channel, events: 0, number: 0 }
          channels.set(event.channel, heard)
        }
        return { event, heard, before: heard.events++ }
      }),
    )
    // The database locks them in the order of their names, and has less to do when they come so.
    this.#channels = [...channels.values()].sort(byName)
    for (let i = 0; i < this.#channels.length; i++) this.#channels[i]!.number = i + 1
  }

  /** As the database takes them; null when there are none. */
  get json(): string | null {
    if (this.#channels.length === 0) return null
    const channels = this.#channels.map(({ events, name }) => ({ name, events }))
    const events: Array<unknown> = []
    for (const turn of this.#turns)
      for (const one of turn) {
        const { data, type } = one.event
        events.push({ channel: one.heard.number, after: after(one), type, data })
      }
    return JSON.stringify({ channels, events })
  }

  /** The events of each turn. */
  placed({ at, ends, epoch }: Places): ReadonlyArray<ReadonlyArray<PlacedEvent>> {
    return this.#turns.map((events) =>
      events.map((one) => {
        const { channel, data, type } = one.event
        return { channel, type, data, offset: ends[one.heard.number - 1]! - after(one), epoch, at }
      }),
    )
  }
}
