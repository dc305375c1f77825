import type { PlacedEvent } from "../../actors/ports.ts"
import type { ChannelEvent } from "../../schema/turn.ts"

/**
 * The result of `place_said`: the last offset of each channel in the given order, and the epoch and time of all
 * events.
 */
export interface Places {
  readonly epoch: string
  readonly at: string
  readonly ends: ReadonlyArray<number>
}

interface NumberedChannel {
  readonly name: string
  events: number
  /** The position of the channel in the parameter of the statement, counted from 1. */
  number: number
}

interface ToPlace {
  readonly event: ChannelEvent
  readonly target: NumberedChannel
  /** The number of earlier events of this batch in the same channel. */
  readonly before: number
}

const byName = ({ name: a }: NumberedChannel, { name: b }: NumberedChannel): number =>
  a < b ? -1 : a > b ? 1 : 0
const after = ({ before, target }: ToPlace): number => target.events - before - 1

/** The events of a batch of turns, before the commit assigns their offsets. */
export class EventsToPlace {
  readonly #turns: ReadonlyArray<ReadonlyArray<ToPlace>>
  readonly #channels: ReadonlyArray<NumberedChannel>

  constructor(turns: ReadonlyArray<ReadonlyArray<ChannelEvent>>) {
    const channels = new Map<string, NumberedChannel>()
    this.#turns = turns.map((events) =>
      events.map((event) => {
        let target = channels.get(event.channel)
        if (target === undefined) {
          target = { name: event.channel, events: 0, number: 0 }
          channels.set(event.channel, target)
        }
        return { event, target, before: target.events++ }
      }),
    )
    // The database locks channels in the order of their names. The statement is faster if they are already sorted.
    this.#channels = [...channels.values()].sort(byName)
    for (let i = 0; i < this.#channels.length; i++) this.#channels[i]!.number = i + 1
  }

  /** The parameter of the statement, as JSON text. Null if there are no events. */
  get json(): string | null {
    if (this.#channels.length === 0) return null
    const channels = this.#channels.map(({ events, name }) => ({ name, events }))
    const events: Array<unknown> = []
    for (const turn of this.#turns)
      for (const one of turn) {
        const { data, type } = one.event
        events.push({ channel: one.target.number, after: after(one), type, data })
      }
    return JSON.stringify({ channels, events })
  }

  /** Returns the events of each turn with the offsets that the commit assigned. */
  placed({ at, ends, epoch }: Places): ReadonlyArray<ReadonlyArray<PlacedEvent>> {
    return this.#turns.map((events) =>
      events.map((one) => {
        const { channel, data, type } = one.event
        return { channel, type, data, offset: ends[one.target.number - 1]! - after(one), epoch, at }
      }),
    )
  }
}
