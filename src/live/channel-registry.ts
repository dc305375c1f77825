import type { Effect } from "effect"
import type { PlacedEvent } from "../../actors/ports.ts"
import type { EventRow, News, Opening, Position } from "../turns/event-store.ts"
import { type Channel, hasParties } from "./channel-names.ts"
import { newOpenChannel, type OpenChannel } from "./open-channel.ts"
import { encodeEvent } from "./protocol.ts"
import { type Frame, ReplayBuffer } from "./replay-buffer.ts"
import type { IsWanted, StateLoader } from "./state-loader.ts"
import { type Prove, type Source, type Subscriber, Subscription } from "./subscription.ts"

/** Sends a frame to every socket that joined the topic. */
export type Publish = (topic: string, frame: Frame) => void

export interface ChannelRegistryOptions {
  readonly stateLoader: StateLoader
  readonly run: <A>(effect: Effect.Effect<A>, done: (value: A) => void) => void
  /** Requests a read of the channel's new events. */
  readonly wake: (name: string) => void
}

/**
 * A channel stays open for so long after its last subscriber has left, and so many of such channels at most. Its clients
 * then reconnect and resume without a read of the database: when a proxy or a network restarts, all of them come back
 * within seconds. Wake-ups still bring its events. A lost wake-up is found by the first check after a subscriber has
 * come back.
 */
const keptOpenMs = 30_000
const maxKeptOpen = 10_000
const replayBytes = 16 * 1024 * 1024

/**
 * The channels that have subscribers in this process. All methods are synchronous. The hub and the state loader read
 * the database.
 */
export class ChannelRegistry implements Source {
  readonly outlets = new Set<Publish>()
  readonly counts = { published: 0, delivered: 0, recovered: 0, unrecovered: 0, restarts: 0 }
  readonly #openChannels = new Map<string, OpenChannel>()
  readonly #recent = new ReplayBuffer(replayBytes)
  readonly #options: ChannelRegistryOptions
  /** Pending reads of a state. Subscribers that join during a read share its result. */
  readonly #openings = new Map<OpenChannel, Array<(opening: Opening) => void>>()
  /** The channels without subscribers that are kept open, oldest first, with the time at which each is closed. */
  readonly #keptOpen = new Map<OpenChannel, number>()
  #subscriptions = 0

  constructor(options: ChannelRegistryOptions) {
    this.#options = options
  }

  /** The number of channels with subscribers. */
  get size(): number {
    return this.#openChannels.size - this.#keptOpen.size
  }
  get subscriptions(): number {
    return this.#subscriptions
  }

  join(channel: Channel, subscriber: Subscriber, requested: string, prove?: Prove): Subscription {
    let openChannel = this.#openChannels.get(channel.name)
    if (openChannel === undefined) {
      openChannel = newOpenChannel(channel)
      this.#openChannels.set(channel.name, openChannel)
    }
    this.#keptOpen.delete(openChannel)
    const subscription = new Subscription(openChannel, this, subscriber, requested, prove)
    openChannel.subscriptions.add(subscription)
    this.#subscriptions++
    return subscription
  }

  leave(subscription: Subscription) {
    const { openChannel } = subscription
    if (!openChannel.subscriptions.delete(subscription)) return
    this.#subscriptions--
    if (openChannel.subscriptions.size > 0) return
    // No subscriber waits for a read of the state any more, so the read may be skipped. A later subscriber must not wait for it.
    const isRead = openChannel.position !== undefined && !this.#openings.has(openChannel)
    if (!isRead || hasParties(openChannel.channel.kind)) return this.#close(openChannel)
    this.#keptOpen.set(openChannel, performance.now() + keptOpenMs)
    if (this.#keptOpen.size > maxKeptOpen) for (const [oldest] of this.#keptOpen) return this.#close(oldest)
  }

  /** Closes the channels that have had no subscriber for long enough. Called periodically. */
  closeUnused(now = performance.now()) {
    for (const [openChannel, closeAt] of this.#keptOpen) {
      if (closeAt > now) return
      this.#close(openChannel)
    }
  }

  #close(openChannel: OpenChannel) {
    this.#keptOpen.delete(openChannel)
    this.#openChannels.delete(openChannel.channel.name)
    this.#recent.forget(openChannel.channel.name)
  }

  /**
   * Returns true if the channel has subscribers here and its events up to the offset are not published yet. If the
   * position of the channel is not known yet, records the wake-up and returns false.
   */
  isWanted(name: string, offset = Number.POSITIVE_INFINITY): boolean {
    const openChannel = this.#openChannels.get(name)
    if (openChannel === undefined) return false
    if (openChannel.position === undefined) openChannel.woken = true
    return openChannel.position !== undefined && openChannel.position.offset < offset
  }

  /**
   * Publishes an event committed by this process, if it is the next event of its channel. Returns false if the event
   * must be read from the database instead.
   */
  publishCommitted({ at, channel, data, epoch, offset, type }: PlacedEvent): boolean {
    const openChannel = this.#openChannels.get(channel)
    if (openChannel === undefined) return true
    const { position } = openChannel
    // The parties, and with them the permissions, may change with each event. So events of such a channel are read
    // together with the parties.
    if (position === undefined || openChannel.parties !== null) return false
    if (position.epoch !== epoch || position.offset + 1 !== offset) return false
    this.#publish(openChannel, { at, offset, type, data: JSON.stringify(data) }, epoch)
    this.#continueAhead(openChannel)
    return true
  }

  /** The names of the channels with subscribers. */
  *names(): IterableIterator<string> {
    for (const [name, { subscriptions }] of this.#openChannels) if (subscriptions.size > 0) yield name
  }

  find(name: string): OpenChannel | undefined {
    return this.#openChannels.get(name)
  }

  open(
    openChannel: OpenChannel,
    after: Position | undefined,
    done: (opening: Opening) => void,
    isWanted: IsWanted,
  ) {
    const { stateLoader, run } = this.#options
    if (after !== undefined) {
      run(stateLoader.open(openChannel.channel, after, isWanted), (opening) => {
        if (opening === undefined) return
        this.#notePosition(openChannel, opening)
        done(opening)
      })
      return
    }
    const sharing = this.#openings.get(openChannel)
    if (sharing !== undefined) {
      sharing.push(done)
      return
    }
    const waiting = [done]
    this.#openings.set(openChannel, waiting)
    // An open channel without subscribers is removed. Later subscribers get a new one.
    const hasSubscribers = () => openChannel.subscriptions.size > 0
    run(stateLoader.open(openChannel.channel, undefined, hasSubscribers), (opening) => {
      this.#openings.delete(openChannel)
      if (opening === undefined) return
      this.#notePosition(openChannel, opening)
      for (const notify of waiting) notify(opening)
    })
  }

  page(openChannel: OpenChannel, offset: number, done: Parameters<Source["page"]>[2], isWanted: IsWanted) {
    this.#options.run(this.#options.stateLoader.page(openChannel.channel, offset, isWanted), (events) => {
      if (events !== undefined) done(events)
    })
  }

  recent(openChannel: OpenChannel, offset: number): Frame | undefined {
    return this.#recent.find(openChannel.channel.name, offset)
  }

  joined(recovered: boolean, resumed: boolean) {
    if (recovered) this.counts.recovered++
    else if (resumed) this.counts.unrecovered++
  }

  delivered(events: number) {
    this.counts.delivered += events
  }

  /** Publishes the events that a read from position `from` found, except those published during the read. */
  apply(openChannel: OpenChannel, news: News, from: Position) {
    const position = openChannel.position
    if (position === undefined) return
    if (news.epoch !== position.epoch || news.offset < from.offset) return this.#restart(openChannel, news)
    if (news.parties !== null) {
      openChannel.parties = news.parties
      for (const subscription of [...openChannel.subscriptions]) subscription.review()
    }
    if (news.offset <= position.offset) return
    const fresh = news.events.filter((event) => event.offset > position.offset)
    // The channel has new events, but the next one is deleted already.
    if (fresh[0] === undefined ? news.events.length === 0 : fresh[0].offset !== position.offset + 1)
      return this.#restart(openChannel, news)
    let { offset } = position
    for (const event of fresh) {
      if (event.offset !== offset + 1) break
      offset = event.offset
      this.#publish(openChannel, event, news.epoch)
    }
    if (offset < news.offset) this.#options.wake(openChannel.channel.name)
    this.#continueAhead(openChannel)
  }

  /** Publishes the next event to all live sockets. */
  #publish(openChannel: OpenChannel, event: EventRow, epoch: string) {
    const { offset } = event
    openChannel.position = { epoch, offset }
    const frame = encodeEvent(openChannel.eventHead, event)
    this.#recent.add(openChannel.channel.name, offset, frame)
    this.counts.published++
    if (openChannel.live === 0) return
    this.counts.delivered += openChannel.live
    for (const publish of this.outlets) publish(openChannel.topic, frame)
  }

  /** Continues subscriptions that waited for the channel to reach their position. */
  #continueAhead({ ahead }: OpenChannel) {
    if (ahead.size === 0) return
    const waiting = [...ahead]
    ahead.clear()
    for (const subscription of waiting) subscription.advance()
  }

  /**
   * Takes the position from the first read. If a later read finds a newer position or another epoch, the channel is
   * read again.
   */
  #notePosition(openChannel: OpenChannel, { epoch, offset, parties }: Opening) {
    openChannel.parties = parties
    if (openChannel.position === undefined) {
      openChannel.position = { epoch, offset }
      if (openChannel.woken) this.#options.wake(openChannel.channel.name)
    } else if (offset > openChannel.position.offset || epoch !== openChannel.position.epoch) {
      this.#options.wake(openChannel.channel.name)
    }
  }

  /** Restarts all subscriptions with the state, because the epoch changed or events were deleted. */
  #restart(openChannel: OpenChannel, { epoch, offset }: Position) {
    this.counts.restarts++
    this.#recent.forget(openChannel.channel.name)
    openChannel.position = { epoch, offset }
    for (const subscription of [...openChannel.subscriptions]) subscription.restart()
  }
}
