import { Effect } from "effect"
import type { PlacedEvent } from "../../actors/ports.ts"
import { liveLimits } from "../../schema/live-frames.ts"
import type { Channel } from "../../src/live/channel-names.ts"
import { ChannelRegistry } from "../../src/live/channel-registry.ts"
import type { Sink } from "../../src/live/protocol.ts"
import type { Frame } from "../../src/live/replay-buffer.ts"
import type { Subscriber, Subscription } from "../../src/live/subscription.ts"
import type { EventRow, News, Opening, Position } from "../../src/turns/event-store.ts"

export const channel: Channel = { kind: "market", name: "market", shown: "market", key: "" }
const utf8 = new TextDecoder()

/** Simulates the database: a log of events. Reads are consistent. The oldest events may be deleted. */
class Log {
  epoch = "e1"
  offset = 0
  firstKept = 1

  row(offset: number): EventRow {
    return {
      offset,
      type: "test.happened",
      data: JSON.stringify({ said: `${this.epoch}/${offset}` }),
      at: "now",
    }
  }
  after(offset: number, limit: number): ReadonlyArray<EventRow> {
    const rows: Array<EventRow> = []
    for (let o = Math.max(offset + 1, this.firstKept); o <= this.offset && rows.length < limit; o++)
      rows.push(this.row(o))
    return rows
  }
  open(after: Position | undefined): Opening {
    const behind = after?.epoch === this.epoch ? this.offset - after.offset : -1
    const whole = after !== undefined && after.offset + 1 >= this.firstKept
    const canReplay = behind === 0 || (behind > 0 && behind <= liveLimits.replayEvents && whole)
    return {
      epoch: this.epoch,
      offset: this.offset,
      missed: canReplay ? this.after(after!.offset, liveLimits.replayEvents) : undefined,
      state: canReplay ? undefined : JSON.stringify({ at: this.offset }),
      parties: null,
    }
  }
  news({ epoch, offset }: Position): News | undefined {
    if (epoch === this.epoch && offset === this.offset) return undefined
    const events = epoch === this.epoch ? this.after(offset, 3) : []
    return { name: channel.name, epoch: this.epoch, offset: this.offset, events, parties: null }
  }
}

/** A socket that checks every frame it receives. */
export class Listener implements Subscriber {
  readonly faults: Array<string> = []
  place: Position | undefined
  started = 0
  isFull = false
  isOpen = true
  subscription: Subscription | undefined
  readonly #topics: Set<Listener>

  constructor(topics: Set<Listener>) {
    this.#topics = topics
  }
  readonly sink: Sink = {
    send: (frame) => this.receive(typeof frame === "string" ? frame : utf8.decode(frame)),
    subscribe: () => void this.#topics.add(this),
    unsubscribe: () => void this.#topics.delete(this),
    close: () => {},
    cut: () => {},
    bufferedBytes: () => (this.isFull ? 1e9 : 0),
    sentBytes: () => 0,
  }
  principal(): undefined {
    return undefined
  }
  refused(): void {
    this.faults.push("refused")
  }
  receive(text: string): void {
    const frame = JSON.parse(text)
    if (!this.isOpen) this.faults.push("received a frame after leaving")
    if (frame.type === "subscribed") {
      const same = frame.epoch === this.place?.epoch && frame.offset === this.place?.offset
      if (frame.recovered && !same)
        this.faults.push(`recovered at ${frame.offset}, was at ${this.place?.offset}`)
      if (!frame.recovered && frame.state?.at !== frame.offset)
        this.faults.push("the state does not match its offset")
      this.place = { epoch: frame.epoch, offset: frame.offset }
      this.started++
      return
    }
    const { epoch, offset } = this.place ?? { epoch: "", offset: Number.NaN }
    if (frame.offset !== offset + 1) this.faults.push(`${frame.offset} after ${offset}`)
    if (frame.data.said !== `${epoch}/${frame.offset}`) this.faults.push(`${frame.data.said} in ${epoch}`)
    this.place = { epoch, offset: frame.offset }
  }
}

/** Simulates a channel in single steps. A test calls these steps in any order. */
export class World {
  readonly log = new Log()
  readonly topics = new Set<Listener>()
  readonly listeners: Array<Listener> = []
  /** Requested reads. */
  readonly asked: Array<() => () => void> = []
  /** Finished reads whose results have not arrived yet. */
  readonly answers: Array<() => void> = []
  readonly said: Array<PlacedEvent> = []
  isWoken = false
  isReading = false
  readonly openChannels: ChannelRegistry

  constructor() {
    this.openChannels = new ChannelRegistry({
      stateLoader: {
        open: (_, after, isWanted) => Effect.sync(() => (isWanted() ? this.log.open(after) : undefined)),
        page: (_, offset, isWanted) =>
          Effect.sync(() => (isWanted() ? this.log.after(offset, 2) : undefined)),
      },
      run: (effect, done) =>
        void this.asked.push(() => {
          const value = Effect.runSync(effect)
          return () => done(value)
        }),
      wake: () => {
        this.isWoken = true
      },
    })
    this.openChannels.outlets.add((_, frame: Frame) => {
      for (const listener of this.topics) listener.receive(utf8.decode(frame))
    })
  }

  join(after?: Position): Listener {
    const listener = new Listener(this.topics)
    listener.place = after
    this.listeners.push(listener)
    listener.subscription = this.openChannels.join(channel, listener, "market")
    listener.subscription.start(after)
    return listener
  }
  leave(listener: Listener): void {
    listener.subscription?.end()
    listener.isOpen = false
  }
  commit(count: number): void {
    this.log.offset += count
    this.isWoken ||= this.openChannels.isWanted(channel.name)
  }
  /** Commits an event in this process. A later `tell` publishes the event, without a read if possible. */
  say(): void {
    this.log.offset += 1
    const { epoch, offset } = this.log
    const { at, data, type } = this.log.row(offset)
    this.said.push({ channel: channel.name, epoch, offset, at, type, data: JSON.parse(data) })
  }
  tell(at: number): void {
    const [said] = this.said.splice(at % Math.max(1, this.said.length), 1)
    if (said === undefined || this.openChannels.publishCommitted(said)) return
    this.isWoken ||= this.openChannels.isWanted(channel.name, said.offset)
  }
  /** Requests a read of new events. Only one such read runs at a time, as in the hub. */
  readNews(): void {
    const openChannel = this.openChannels.find(channel.name)
    if (this.isReading || openChannel?.position === undefined) return
    this.isReading = true
    this.isWoken = false
    const standing = openChannel.position
    this.asked.push(() => {
      const news = this.log.news(standing)
      return () => {
        this.isReading = false
        if (news !== undefined && this.openChannels.find(channel.name) === openChannel)
          this.openChannels.apply(openChannel, news, standing)
      }
    })
  }
  execute(at: number): void {
    const [read] = this.asked.splice(at % Math.max(1, this.asked.length), 1)
    if (read !== undefined) this.answers.push(read())
  }
  answer(at: number): void {
    const [tell] = this.answers.splice(at % Math.max(1, this.answers.length), 1)
    tell?.()
  }
  /** Ends all simulated faults: no socket has a full buffer, new events are read, and all results arrive. */
  settle(): void {
    for (const listener of this.listeners) {
      listener.isFull = false
      listener.subscription?.advance()
    }
    for (let round = 0; round < 400; round++) {
      this.readNews()
      this.execute(0)
      this.answer(0)
      for (const listener of this.listeners) if (listener.isOpen) listener.subscription?.advance()
    }
  }
}
