import type { Principal } from "../http/principal.ts"
import type { EventRow, Opening, Position } from "../turns/event-store.ts"
import { hasParties, mayHear } from "./channel-names.ts"
import type { OpenChannel } from "./open-channel.ts"
import { encodeEvent, encodeSubscribed, type Sink } from "./protocol.ts"
import type { Frame } from "./replay-buffer.ts"
import type { IsWanted } from "./state-loader.ts"

/** Whoever subscribes: a socket and the person behind it. */
export interface Subscriber {
  readonly sink: Sink
  principal(): Principal | undefined
  /** The channel is not, or no longer, theirs to hear. */
  refused(subscription: Subscription): void
}

/** Where a subscription gets its events from. Answers come in a later turn, or never once it has ended. */
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

/** A socket with more than this unsent gets no further states, missed events and answers until it has read some. */
const pauseAboveBytes = 64 * 1024
export const isFull = (sink: Sink): boolean => sink.bufferedBytes() > pauseAboveBytes

/**
 * Replay, then live, without a hole: first a state or a position, then what came after it one by one, and in the very turn
 * the last of that is sent the socket joins the topic the feed publishes to. Nothing is awaited between.
 */
export class Subscription {
  readonly openChannel: OpenChannel
  readonly #source: Source
  readonly #subscriber: Subscriber
  /** As the client spelled it. */
  readonly asked: string
  #isStarted = false
  #phase: "opening" | "replaying" | "live" | "ended" = "opening"
  /** Everything up to here has been sent. */
  #cursor = 0
  /** Read for this one alone, ahead of being sent. */
  #pending: Map<number, Frame> | undefined
  #reading = false
  /** An answer that waits for room in the socket. */
  #held: (() => void) | undefined
  /** Counts starts: what an earlier one asked for is not wanted any more. */
  #starts = 0

  constructor(openChannel: OpenChannel, source: Source, subscriber: Subscriber, asked: string) {
    this.openChannel = openChannel
    this.#source = source
    this.#subscriber = subscriber
    this.asked = asked
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

  /** Whether the client has been told that it is subscribed. */
  get isStarted(): boolean {
    return this.#isStarted
  }

  /** What this socket has seen is no longer a position of the channel: it starts over with the state. */
  restart() {
    if (this.#phase === "ended") return
    this.#held = undefined
    this.#leaveTopic()
    this.#pending = undefined
    this.openChannel.ahead.delete(this)
    this.start(undefined)
  }

  /** Sends on until caught up, the socket is full, or a read is needed. */
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

  /** Asked before the feed publishes something new. */
  review() {
    const { channel, parties } = this.openChannel
    if (this.#phase === "opening" || mayHear(channel.kind, this.#subscriber.principal(), parties)) return
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
    // Whose channel this is must be read, so the position might as well be.
    if (position === undefined || hasParties(channel.kind) || epoch !== position.epoch) return false
    return (
      offset === position.offset ||
      (offset < position.offset && this.#source.recent(this.openChannel, offset + 1) !== undefined)
    )
  }

  #opened(after: Position | undefined, opening: Opening) {
    const { channel } = this.openChannel
    if (this.#isFull()) {
      // A client that opens many channels at once gets their states as fast as it reads them.
      this.#held = () => this.#opened(after, opening)
      return
    }
    if (!mayHear(channel.kind, this.#subscriber.principal(), opening.parties)) {
      this.#subscriber.refused(this)
      return
    }
    // The channel began anew, and either this read or the feed has not noticed yet.
    if (opening.epoch !== this.openChannel.position?.epoch) return this.start(undefined)
    const { missed } = opening
    if (after === undefined || missed === undefined) {
      this.#announce(opening, opening.state ?? "null", false, after !== undefined)
      return
    }
    this.#keep(missed)
    this.#announce(after, undefined, true, true)
  }

  #announce(from: Position, state: string | undefined, recovered: boolean, resumed: boolean) {
    const { shown } = this.openChannel.channel
    this.#cursor = from.offset
    this.#phase = "replaying"
    this.#isStarted = true
    this.#source.joined(recovered, resumed)
    const requested = this.asked === shown ? {} : { requested: this.asked }
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
      // Gone from the store while this socket was slow.
      if (events[0]?.offset !== from + 1) return this.restart()
      this.#keep(events)
      this.advance()
    }
    this.#source.page(this.openChannel, from, done, isWanted)
  }

  #keep(events: ReadonlyArray<EventRow>) {
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
