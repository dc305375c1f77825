import type { Effect } from "effect"
import type { PlacedEvent } from "../../actors/ports.ts"
import type { EventRow, News, Opening, Position } from "../turns/event-store.ts"
import { type Feed, newFeed } from "./channel.ts"
import type { Channel } from "./channels.ts"
import { encodeEvent } from "./protocol.ts"
import { type Frame, RecentFrames } from "./replay-buffer.ts"
import type { IsWanted, Opener } from "./state-loader.ts"
import { type Source, type Subscriber, Subscription } from "./subscription.ts"

/** Hands a frame to every socket that joined the topic. */
export type Publish = (topic: string, frame: Frame) => void

export interface FeedsOptions {
  readonly opener: Opener
  readonly run: <A>(effect: Effect.Effect<A>, done: (value: A) => void) => void
  /** Asks for the channel's news to be read. */
  readonly wake: (name: string) => void
}

const recentBytes = 16 * 1024 * 1024

/** The channels listened to in this process. Everything here happens in one turn; reading is left to others. */
export class Feeds implements Source {
  readonly outlets = new Set<Publish>()
  readonly counts = { published: 0, delivered: 0, recovered: 0, unrecovered: 0, restarts: 0 }
  readonly #feeds = new Map<string, Feed>()
  readonly #recent = new RecentFrames(recentBytes)
  readonly #options: FeedsOptions
  /** Reads of a state under way: whoever comes meanwhile takes the same answer. */
  readonly #openings = new Map<Feed, Array<(opening: Opening) => void>>()
  #subscriptions = 0

  constructor(options: FeedsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#feeds.size
  }
  get subscriptions(): number {
    return this.#subscriptions
  }

  join(channel: Channel, subscriber: Subscriber, asked: string): Subscription {
    let feed = this.#feeds.get(channel.name)
    if (feed === undefined) {
      feed = newFeed(channel)
      this.#feeds.set(channel.name, feed)
    }
    const subscription = new Subscription(feed, this, subscriber, asked)
    feed.subscriptions.add(subscription)
    this.#subscriptions++
    return subscription
  }

  leave(subscription: Subscription) {
    const { feed } = subscription
    if (!feed.subscriptions.delete(subscription)) return
    this.#subscriptions--
    if (feed.subscriptions.size > 0) return
    this.#feeds.delete(feed.channel.name)
    this.#recent.forget(feed.channel.name)
  }

  /** True when somebody here listens and its news should be read: those up to the offset were not published yet. */
  isWanted(name: string, offset = Number.POSITIVE_INFINITY): boolean {
    const feed = this.#feeds.get(name)
    if (feed === undefined) return false
    if (feed.position === undefined) feed.woken = true
    return feed.position !== undefined && feed.position.offset < offset
  }

  /** Publishes what this process has committed itself, if it is the very next of its channel. False: it must be read. */
  show({ at, channel, data, epoch, offset, type }: PlacedEvent): boolean {
    const feed = this.#feeds.get(channel)
    if (feed === undefined) return true
    const { position } = feed
    // Who may listen to a channel of parties may change with each of its events.
    if (position === undefined || feed.parties !== null) return false
    if (position.epoch !== epoch || position.offset + 1 !== offset) return false
    this.#move(feed, { at, offset, type, data: JSON.stringify(data) }, epoch)
    this.#letOn(feed)
    return true
  }

  names(): IterableIterator<string> {
    return this.#feeds.keys()
  }

  find(name: string): Feed | undefined {
    return this.#feeds.get(name)
  }

  open(feed: Feed, after: Position | undefined, done: (opening: Opening) => void, isWanted: IsWanted) {
    const { opener, run } = this.#options
    if (after !== undefined) {
      run(opener.open(feed.channel, after, isWanted), (opening) => {
        if (opening === undefined) return
        this.#saw(feed, opening)
        done(opening)
      })
      return
    }
    const sharing = this.#openings.get(feed)
    if (sharing !== undefined) {
      sharing.push(done)
      return
    }
    const waiting = [done]
    this.#openings.set(feed, waiting)
    // A feed that everybody left is left for good: who comes later joins another.
    const isHeard = () => feed.subscriptions.size > 0
    run(opener.open(feed.channel, undefined, isHeard), (opening) => {
      this.#openings.delete(feed)
      if (opening === undefined) return
      this.#saw(feed, opening)
      for (const tell of waiting) tell(opening)
    })
  }

  page(feed: Feed, offset: number, done: Parameters<Source["page"]>[2], isWanted: IsWanted) {
    this.#options.run(this.#options.opener.page(feed.channel, offset, isWanted), (events) => {
      if (events !== undefined) done(events)
    })
  }

  recent(feed: Feed, offset: number): Frame | undefined {
    return this.#recent.find(feed.channel.name, offset)
  }

  joined(recovered: boolean, resumed: boolean) {
    if (recovered) this.counts.recovered++
    else if (resumed) this.counts.unrecovered++
  }

  delivered(events: number) {
    this.counts.delivered += events
  }

  /** Publishes what a read found beyond the position it asked from, and this feed has not published meanwhile. */
  apply(feed: Feed, news: News, asked: Position) {
    const position = feed.position
    if (position === undefined) return
    if (news.epoch !== position.epoch || news.offset < asked.offset) return this.#restart(feed, news)
    if (news.parties !== null) {
      feed.parties = news.parties
      for (const subscription of [...feed.subscriptions]) subscription.review()
    }
    if (news.offset <= position.offset) return
    const fresh = news.events.filter((event) => event.offset > position.offset)
    // The channel has moved, but what comes next is gone.
    if (fresh[0] === undefined ? news.events.length === 0 : fresh[0].offset !== position.offset + 1)
      return this.#restart(feed, news)
    let { offset } = position
    for (const event of fresh) {
      if (event.offset !== offset + 1) break
      offset = event.offset
      this.#move(feed, event, news.epoch)
    }
    if (offset < news.offset) this.#options.wake(feed.channel.name)
    this.#letOn(feed)
  }

  /** On to the next event of the feed: everybody who hears it is sent that. */
  #move(feed: Feed, event: EventRow, epoch: string) {
    const { offset } = event
    feed.position = { epoch, offset }
    const frame = encodeEvent(feed.eventHead, event)
    this.#recent.add(feed.channel.name, offset, frame)
    this.counts.published++
    if (feed.live === 0) return
    this.counts.delivered += feed.live
    for (const publish of this.outlets) publish(feed.topic, frame)
  }

  /** Those who were ahead of the feed may have been caught up with. */
  #letOn({ ahead }: Feed) {
    if (ahead.size === 0) return
    const waiting = [...ahead]
    ahead.clear()
    for (const subscription of waiting) subscription.advance()
  }

  /** The first read of a channel says where its feed begins; a later one may find it elsewhere. */
  #saw(feed: Feed, { epoch, offset, parties }: Opening) {
    feed.parties = parties
    if (feed.position === undefined) {
      feed.position = { epoch, offset }
      if (feed.woken) this.#options.wake(feed.channel.name)
    } else if (offset > feed.position.offset || epoch !== feed.position.epoch) {
      this.#options.wake(feed.channel.name)
    }
  }

  /** The channel is not where it was left, or events are gone: everybody starts over from its state. */
  #restart(feed: Feed, { epoch, offset }: Position) {
    this.counts.restarts++
    this.#recent.forget(feed.channel.name)
    feed.position = { epoch, offset }
    for (const subscription of [...feed.subscriptions]) subscription.restart()
  }
}
