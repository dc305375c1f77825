import type { PlacedEvent } from "../../actors/ports.ts"
import type { ChannelEvent } from "../../schema/turn.ts"

/** What `place_events` answers: the offsets in the order of the events, and what these share. */
export interface Places {
  readonly epoch: string | null
  readonly at: string
  readonly offsets: ReadonlyArray<number>
}

interface ToPlace {
  readonly event: ChannelEvent
  /** What it says, written down once, for the database and for whoever listens here. */
  readonly data: string
  /** Which of the turns says it. */
  readonly turn: number
}

/** The database locks channels in the order of their names. Few events had better come so; many it puts in order itself. */
const few = 8
const byChannel = ({ event: a }: ToPlace, { event: b }: ToPlace): number =>
  a.channel < b.channel ? -1 : a.channel > b.channel ? 1 : 0

/** The events of some turns on their way into the database. */
export class EventsToPlace {
  readonly #turns: number
  readonly #all: ReadonlyArray<ToPlace>

  constructor(turns: ReadonlyArray<ReadonlyArray<ChannelEvent>>) {
    this.#turns = turns.length
    const all: Array<ToPlace> = []
    for (let turn = 0; turn < turns.length; turn++)
      for (const event of turns[turn]!) all.push({ event, data: JSON.stringify(event.data), turn })
    this.#all = all.length > few ? all : all.sort(byChannel)
  }

  get isEmpty(): boolean {
    return this.#all.length === 0
  }

  /** As the database takes them. */
  get json(): string {
    const one = ({ data, event: { channel, type } }: ToPlace) =>
      `{"channel":${JSON.stringify(channel)},"type":${JSON.stringify(type)},"data":${data}}`
    return `[${this.#all.map(one).join(",")}]`
  }

  /** The events of each turn. */
  placed({ at, epoch, offsets }: Places): ReadonlyArray<ReadonlyArray<PlacedEvent>> {
    const turns = Array.from({ length: this.#turns }, (): Array<PlacedEvent> => [])
    for (let i = 0; i < this.#all.length; i++) {
      const { data, event, turn } = this.#all[i]!
      turns[turn]!.push({ channel: event.channel, type: event.type, data, offset: offsets[i]!, epoch, at })
    }
    return turns
  }
}
