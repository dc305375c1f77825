import type { ErrorFrame, EventFrame, SubscribedFrame } from "../../schema/live-frames.ts"
import { tell } from "./event-listener.ts"
import { isPublic } from "./protocol-constants.ts"

export type LiveChannel =
  | "cart"
  | "transfers"
  | "lootboxes"
  | "session"
  | "interests"
  | "market"
  | `order:${string}`
  | `transfer:${string}`
  | `emoji_id:${string}`

type RefusalCode = ErrorFrame["code"] | "not_allowed"

export interface ChannelHandlers {
  /** The state now: whatever was known of the channel before is to be forgotten. */
  readonly state: (state: unknown) => void
  /** What happened since, in order, each once. */
  readonly event: (event: EventFrame) => void
  /** The channel cannot be heard, or not any more. */
  readonly refused?: (code: RefusalCode) => void
}

export interface Listening {
  /** As the caller spells the channel, and as the server does. */
  readonly asked: string
  readonly handlers: ChannelHandlers
  name: string
  place: { epoch: string; offset: number } | undefined
  /** Which frame of this socket asked for it last. */
  askedAt: number
}

/** Which channels are wanted and how far each has been heard. */
export class Subscriptions {
  readonly #listening = new Set<Listening>()

  add(asked: LiveChannel, handlers: ChannelHandlers): Listening {
    const listening: Listening = { asked, handlers, name: asked, place: undefined, askedAt: 0 }
    this.#listening.add(listening)
    return listening
  }

  /** True when nobody else wants the channel. */
  remove(listening: Listening): boolean {
    if (!this.#listening.delete(listening)) return false
    return ![...this.#listening].some(
      ({ asked, name }) => name === listening.name || asked === listening.asked,
    )
  }

  hasPublic(): boolean {
    return [...this.#listening].some(({ asked }) => isPublic(asked))
  }

  /** Somebody who has asked for the channel, in this spelling, and not been answered. */
  awaiting(asked: LiveChannel): Listening | undefined {
    for (const listening of this.#listening)
      if (listening.asked === asked && listening.place === undefined) return listening
    return undefined
  }

  /** One for each channel, to ask for them all: whoever has no state yet, or else whoever has heard least. */
  toAsk(those: Iterable<Listening> = this.#listening): Iterable<Listening> {
    const heard = ({ place }: Listening) => place?.offset ?? -1
    const chosen = new Map<string, Listening>()
    for (const listening of those) {
      const other = chosen.get(listening.name)
      if (other === undefined || heard(listening) < heard(other)) chosen.set(listening.name, listening)
    }
    return chosen.values()
  }

  /** Those who asked before the channel was left and may have meant it: another spelling is known for one when it is answered. */
  left(channel: string, at: number): Iterable<Listening> {
    return this.toAsk(
      [...this.#listening].filter(
        ({ askedAt, name, place }) => askedAt < at && (name === channel || place === undefined),
      ),
    )
  }

  forgetPlaces(): void {
    for (const listening of this.#listening) listening.place = undefined
  }

  /** Two spellings of one channel share what is sent for either. Returns whoever must ask for itself. */
  subscribed(frame: SubscribedFrame): Listening | undefined {
    const asked = frame.requested ?? frame.channel
    let behind: Listening | undefined
    for (const listening of this.#listening) {
      if (listening.asked !== asked && listening.name !== frame.channel) continue
      listening.name = frame.channel
      if (frame.recovered) {
        const { epoch, offset } = listening.place ?? { epoch: "", offset: -1 }
        // What follows begins at or before this place: what it has heard already is left out one by one.
        if (epoch !== frame.epoch || offset < frame.offset) behind = listening
      } else {
        listening.place = { epoch: frame.epoch, offset: frame.offset }
        tell(() => listening.handlers.state(frame.state))
      }
    }
    return behind
  }

  /** Returns whoever missed something, which the protocol rules out: asking again from its place repairs it. */
  happened(frame: EventFrame): Listening | undefined {
    let behind: Listening | undefined
    for (const listening of this.#listening) {
      const { handlers, name, place } = listening
      if (name !== frame.channel || place === undefined || frame.offset <= place.offset) continue
      if (frame.offset !== place.offset + 1) behind = listening
      else {
        place.offset = frame.offset
        tell(() => handlers.event(frame))
      }
    }
    return behind
  }

  refused(channel: string, code: RefusalCode): void {
    for (const listening of [...this.#listening]) {
      if (listening.asked !== channel && listening.name !== channel) continue
      this.#listening.delete(listening)
      tell(() => listening.handlers.refused?.(code))
    }
  }
}
