import type { Principal } from "../http/principal.ts"
import type { EventRow, Opening, Position } from "../turns/event-store.ts"
import { hasParties, mayReceive } from "./channel-names.ts"
import type { OpenChannel } from "./open-channel.ts"
import { encodeEvent, encodeSubscribed, type Sink } from "./protocol.ts"
import type { Frame } from "./replay-buffer.ts"
import type { IsWanted } from "./state-loader.ts"

/** A socket that subscribes, and the user it belongs to. */
export interface Subscriber {
  readonly sink: Sink
  principal(): Principal | undefined
  /** Called if the user is not, or is no longer, allowed to receive the channel. */
  refused(subscription: Subscription): void
}

/**
 * Reads the state and the events for a subscription. `done` is called when the read is complete, possibly after the
 * subscription has ended. It is not called if the read was skipped because nothing needs it any more.
 */
export interface Source {
  open(
    openChannel: OpenChannel,
    after: Position | undefined,
    done: (opening: Opening) => void,
    isWanted: IsWanted,
  ): void
  page(
    openChannel: OpenChannel,
    offset: number,
    done: (events: ReadonlyArray<EventRow>) => void,
    isWanted: IsWanted,
  ): void
  recent(openChannel: OpenChannel, offset: number): Frame | undefined
  leave(subscription: Subscription): void
  joined(recovered: boolean, resumed: boolean): void
  delivered(events: number): void
}

/** Adds a proof to a state, and calls `done` with the new state. */
export type Prove = (state: string, done: (proven: string) => void) => void

/** A socket with more unsent bytes gets no states, missed events or lookup results until it has read some. */
const pauseAboveBytes = 64 * 1024
export const isFull = (sink: Sink): boolean => sink.bufferedBytes() > pauseAboveBytes

/**
 * Sends a channel to one socket without a gap: first the state or the confirmed position, then the events after it,
 * then live events. The socket joins the topic of the channel in the same synchronous step that sends the last missed
 * event.
 */
export class Subscription {
  readonly openChannel: OpenChannel
  readonly #source: Source
  readonly #subscriber: Subscriber
  /** The channel name as the client spelled it. */
  readonly requested: string
  readonly #prove: Prove | undefined
  #isStarted = false
  #phase: "opening" | "replaying" | "live" | "ended" = "opening"
  /** The offset of the last event that was sent, or the offset at which the subscription started. */
  #cursor = 0
  /** Events read for this subscription only and not sent yet. */
  #pending: Map<number, Frame> | undefined
  #reading = false
  /** Set while the state waits for room in the socket. Calling this function continues. */
  #held: (() => void) | undefined
  /** Counts starts, so that the result of a read for an earlier start is ignored. */
  #starts = 0

  constructor(
    openChannel: OpenChannel,
    source: Source,
    subscriber: Subscriber,
    requested: string,
    prove?: Prove,
  ) {
    this.#prove = prove
    this.openChannel = openChannel
    this.#source = source
    this.#subscriber = subscriber
    this.requested = requested
  }

  start(after: Position | undefined) {
    if (after !== undefined && this.#needsNoRead(after)) {
      this.#announce(after, undefined, true, true)
      return
    }
    this.#phase = "opening"
    this.#reading = false
    const attempt = ++this.#starts
    const isWanted = () => this.#phase === "opening" && this.#starts === attempt
    const done = (opening: Opening) => {
      if (isWanted()) this.#opened(after, opening)
    }
    this.#source.open(this.openChannel, after, done, isWanted)
  }

  /** Whether `subscribed` was sent to the client. */
  get isStarted(): boolean {
    return this.#isStarted
  }

  /** Starts again with the state, because the position of this socket is no longer valid in the channel. */
  restart() {
    if (this.#phase === "ended") return
    this.#held = undefined
    this.#leaveTopic()
    this.#pending = undefined
    this.openChannel.ahead.delete(this)
    this.start(undefined)
  }

  /** Sends missed events until the socket is up to date or full, or until more events must be read. */
  advance() {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined && this.#phase === "opening") return held()
    if (this.#phase !== "replaying" || this.#reading) return
    const { openChannel } = this
    const head = openChannel.position?.offset ?? 0
    let sent = 0
    while (this.#cursor < head) {
      if (this.#isFull()) break
      const next = this.#cursor + 1
      const frame = this.#pending?.get(next) ?? this.#source.recent(openChannel, next)
      if (frame === undefined) {
        this.#readMore()
        break
      }
      this.#subscriber.sink.send(frame)
      this.#cursor = next
      sent++
    }
    if (sent > 0) this.#source.delivered(sent)
    if (this.#cursor > head) openChannel.ahead.add(this)
    else if (this.#cursor === head) this.#joinTopic()
  }

  /** Checks permission again. Called before the channel publishes new events. */
  review() {
    const { channel, parties } = this.openChannel
    if (this.#phase === "opening" || mayReceive(channel.kind, this.#subscriber.principal(), parties)) return
    this.#subscriber.refused(this)
  }

  end() {
    if (this.#phase === "ended") return
    this.#leaveTopic()
    this.#phase = "ended"
    this.#held = undefined
    this.#pending = undefined
    this.openChannel.ahead.delete(this)
    this.#source.leave(this)
  }

  #needsNoRead({ epoch, offset }: Position): boolean {
    const { channel, position } = this.openChannel
    // A channel with parties needs a read to check the permission. The same statement reads the position.
    if (position === undefined || hasParties(channel.kind) || epoch !== position.epoch) return false
    return (
      offset === position.offset ||
      (offset < position.offset && this.#source.recent(this.openChannel, offset + 1) !== undefined)
    )
  }

  #opened(after: Position | undefined, opening: Opening, isProven = this.#prove === undefined) {
    const { channel } = this.openChannel
    if (this.#isFull()) {
      // A client that subscribes to many channels gets their states as fast as it reads them.
      this.#held = () => this.#opened(after, opening, isProven)
      return
    }
    if (!mayReceive(channel.kind, this.#subscriber.principal(), opening.parties)) {
      this.#subscriber.refused(this)
      return
    }
    // If the epochs differ, the epoch has changed, and either this read or the open channel still has the old one.
    if (opening.epoch !== this.openChannel.position?.epoch) return this.start(undefined)
    const { missed } = opening
    if (after === undefined || missed === undefined) {
      if (!isProven) return this.#proveState(after, opening)
      this.#announce(opening, opening.state ?? "null", false, after !== undefined)
      return
    }
    this.#setPending(missed)
    this.#announce(after, undefined, true, true)
  }

  #proveState(after: Position | undefined, opening: Opening) {
    const attempt = this.#starts
    this.#prove?.(opening.state ?? "null", (state) => {
      if (this.#phase === "opening" && this.#starts === attempt)
        this.#opened(after, { ...opening, state }, true)
    })
  }

  #announce(from: Position, state: string | undefined, recovered: boolean, resumed: boolean) {
    const { shown } = this.openChannel.channel
    this.#cursor = from.offset
    this.#phase = "replaying"
    this.#isStarted = true
    this.#source.joined(recovered, resumed)
    const requested = this.requested === shown ? {} : { requested: this.requested }
    this.#subscriber.sink.send(
      encodeSubscribed(
        { channel: shown, ...requested, epoch: from.epoch, offset: from.offset, recovered },
        state,
      ),
    )
    this.advance()
  }

  #isFull(): boolean {
    return isFull(this.#subscriber.sink)
  }

  #readMore() {
    this.#reading = true
    const from = this.#cursor
    const attempt = this.#starts
    const isWanted = () => this.#phase === "replaying" && this.#starts === attempt
    const done = (events: ReadonlyArray<EventRow>) => {
      if (!isWanted()) return
      this.#reading = false
      // The events were deleted while this socket was slow.
      if (events[0]?.offset !== from + 1) return this.restart()
      this.#setPending(events)
      this.advance()
    }
    this.#source.page(this.openChannel, from, done, isWanted)
  }

  #setPending(events: ReadonlyArray<EventRow>) {
    const { eventHead } = this.openChannel
    this.#pending = new Map(events.map((event) => [event.offset, encodeEvent(eventHead, event)]))
  }

  #joinTopic() {
    this.#phase = "live"
    this.#pending = undefined
    this.openChannel.live++
    this.#subscriber.sink.subscribe(this.openChannel.topic)
  }

  #leaveTopic() {
    if (this.#phase !== "live") return
    this.openChannel.live--
    this.#subscriber.sink.unsubscribe(this.openChannel.topic)
  }
}
