import type { ErrorFrame, EventFrame, SubscribedFrame } from "../api-types.ts"
import { callListener } from "../event-listener.ts"
import type { LiveChannel } from "./channel-state.ts"
import { isPublic } from "./protocol-constants.ts"

export type RefusalCode = ErrorFrame["code"] | "not_allowed"

export interface ChannelHandlers<State = unknown> {
  /** Called with the current state. It replaces everything that the application knew about the channel. */
  readonly state: (state: State) => void
  /** Called with each later event, in order, once. */
  readonly event: (event: EventFrame) => void
  /** Called when the subscription is rejected or ended by the server. */
  readonly refused?: (code: RefusalCode) => void
  /** Called when the application closes the connection. */
  readonly closed?: () => void
}

export interface Listening {
  /** The channel name as the application spells it. `name` is the spelling of the server. */
  readonly requested: string
  readonly handlers: ChannelHandlers
  name: string
  place: { epoch: string; offset: number } | undefined
  /** The number of the last frame that requested the channel. */
  requestedAt: number
}

/** The subscriptions of the application, and the position of each. */
export class Subscriptions {
  readonly #listening = new Set<Listening>()

  add(requested: LiveChannel, handlers: ChannelHandlers): Listening {
    const listening: Listening = { requested, handlers, name: requested, place: undefined, requestedAt: 0 }
    this.#listening.add(listening)
    return listening
  }

  /**
   * Removes a subscription. Returns true if it was the last subscription to its channel. Returns false if it was
   * already removed.
   */
  remove(listening: Listening): boolean {
    if (!this.#listening.delete(listening)) return false
    return ![...this.#listening].some(
      ({ requested, name }) => name === listening.name || requested === listening.requested,
    )
  }

  hasPublic(): boolean {
    return [...this.#listening].some(({ requested }) => isPublic(requested))
  }

  /** Returns a subscription with the same spelling that has no reply yet. */
  awaiting(requested: LiveChannel): Listening | undefined {
    for (const listening of this.#listening)
      if (listening.requested === requested && listening.place === undefined) return listening
    return undefined
  }

  /**
   * Returns the subscriptions to request, one per channel. For a channel with several subscriptions this is one that
   * has no state yet, otherwise the one with the lowest offset.
   */
  toRequest(those: Iterable<Listening> = this.#listening): Iterable<Listening> {
    const offsetOf = ({ place }: Listening) => place?.offset ?? -1
    const chosen = new Map<string, Listening>()
    for (const listening of those) {
      const other = chosen.get(listening.name)
      if (other === undefined || offsetOf(listening) < offsetOf(other)) chosen.set(listening.name, listening)
    }
    return chosen.values()
  }

  /**
   * Called when the server confirms the unsubscribe of `channel`. Returns the subscriptions that may have ended with it
   * and must be requested again. They were requested before the unsubscribe frame (number `at`), and they have the same
   * channel name or no reply yet. Without a reply, another spelling may name the same channel.
   */
  left(channel: string, at: number): Iterable<Listening> {
    return this.toRequest(
      [...this.#listening].filter(
        ({ requestedAt, name, place }) => requestedAt < at && (name === channel || place === undefined),
      ),
    )
  }

  forgetPlaces(): void {
    for (const listening of this.#listening) listening.place = undefined
  }

  /**
   * Handles `subscribed` for all spellings of the channel. Returns a subscription that must be requested separately,
   * or undefined.
   */
  subscribed(frame: SubscribedFrame): Listening | undefined {
    const requested = frame.requested ?? frame.channel
    let behind: Listening | undefined
    for (const listening of this.#listening) {
      if (listening.requested !== requested && listening.name !== frame.channel) continue
      listening.name = frame.channel
      if (frame.recovered) {
        const { epoch, offset } = listening.place ?? { epoch: "", offset: -1 }
        // A listener whose position is not before the start of the replay only skips events that it already has. Any
        // other listener would miss events, so it must be requested separately.
        if (epoch !== frame.epoch || offset < frame.offset) behind = listening
      } else {
        listening.place = { epoch: frame.epoch, offset: frame.offset }
        callListener(() => listening.handlers.state(frame.state))
      }
    }
    return behind
  }

  /**
   * Handles an event. Returns a subscription that missed an event, or undefined. The caller must request this
   * subscription again from its position.
   */
  received(frame: EventFrame): Listening | undefined {
    let behind: Listening | undefined
    for (const listening of this.#listening) {
      const { handlers, name, place } = listening
      if (name !== frame.channel || place === undefined || frame.offset <= place.offset) continue
      if (frame.offset !== place.offset + 1) behind = listening
      else {
        place.offset = frame.offset
        callListener(() => handlers.event(frame))
      }
    }
    return behind
  }

  /** Ends all subscriptions, because the application has closed the connection. */
  close(): void {
    for (const { handlers } of [...this.#listening]) callListener(() => handlers.closed?.())
    this.#listening.clear()
  }

  refused(channel: string, code: RefusalCode): void {
    for (const listening of [...this.#listening]) {
      if (listening.requested !== channel && listening.name !== channel) continue
      this.#listening.delete(listening)
      callListener(() => listening.handlers.refused?.(code))
    }
  }
}
