import type { Effect } from "effect"
import type { PlacedEvent } from "../../actors/ports.ts"
import type { EventRow, News, Opening, Position } from "../turns/event-store.ts"
import type { Channel } from "./channel-names.ts"
import { newOpenChannel, type OpenChannel } from "./open-channel.ts"
import { encodeEvent } from "./protocol.ts"
import { type Frame, ReplayBuffer } from "./replay-buffer.ts"
import type { IsWanted, StateLoader } from "./state-loader.ts"
import { type Source, type Subscriber, Subscription } from "./subscription.ts"

/** Hands a frame to every socket that joined the topic. */
export type Publish = (topic: string, frame: Frame) => void

export interface ChannelRegistryOptions {
  readonly stateLoader: StateLoader
  readonly run: <A>(effect: Effect.Effect<A>, done: (value: A) => void) => void
  /** Asks for the channel's news to be read. */
  readonly wake: (name: string) => void
}

const recentBytes = 16 * 1024 * 1024

/** The channels listened to in this process. Everything here happens in one turn; reading is left to others. */
export class ChannelRegistry implements Source {
  readonly outlets = new Set<Publish>()
  readonly counts = { published: 0, delivered: 0, recovered: 0, unrecovered: 0, restarts: 0 }
  readonly #openChannels = new Map<string, OpenChannel>()
  readonly #recent = new ReplayBuffer(recentBytes)
  readonly #options: ChannelRegistryOptions
  /** Reads of a state under way: whoever comes meanwhile takes the same answer. */
  readonly #openings = new Map<OpenChannel, Array<(opening: Opening) => void>>()
  #subscriptions = 0

  constructor(options: ChannelRegistryOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#openChannels.size
  }
  get subscriptions(): number {
    return this.#subscriptions
  }

  join(channel: Channel, subscriber: Subscriber, asked: string): Subscription {
    let openChannel = this.#openChannels.get(channel.name)
    if (openChannel === undefined) {
      openChannel = newOpenChannel(channel)
      this.#openChannels.set(channel.name, openChannel)
    }
    const subscription = new Subscription(openChannel, this, subscriber, asked)
    openChannel.subscriptions.add(subscription)
    this.#subscriptions++
    return subscription
  }

  leave(subscription: Subscription) {
    const { openChannel } = subscription
    if (!openChannel.subscriptions.delete(subscription)) return
    this.#subscriptions--
    if (openChannel.subscriptions.size > 0) return
    this.#openChannels.delete(openChannel.channel.name)
    this.#recent.forget(openChannel.channel.name)
  }

  /** True when somebody here listens and its news should be read: those up to the offset were not published yet. */
  isWanted(name: string, offset = Number.POSITIVE_INFINITY): boolean {
    const openChannel = this.#openChannels.get(name)
    if (openChannel === undefined) return false
    if (openChannel.position === undefined) openChannel.woken = true
    return openChannel.position !== undefined && openChannel.position.offset < offset
  }

  /** Publishes what this process has committed itself, if it is the very next of its channel. False: it must be read. */
  show({ at, channel, data, epoch, offset, type }: PlacedEvent): boolean {
    const openChannel = this.#openChannels.get(channel)
    if (openChannel === undefined) return true
    const { position } = openChannel
    // Who may listen to a channel of parties may change with each of its events.
    if (position === undefined || openChannel.parties !== null) return false
    if (position.epoch !== epoch || position.offset + 1 !== offset) return false
    this.#move(openChannel, { at, offset, type, data: JSON.stringify(data) }, epoch)
    this.#letOn(openChannel)
    return true
  }

  names(): IterableIterator<string> {
    return this.#openChannels.keys()
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
        this.#saw(openChannel, opening)
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
    // A feed that everybody left is left for good: who comes later joins another.
    const isHeard = () => openChannel.subscriptions.size > 0
    run(stateLoader.open(openChannel.channel, undefined, isHeard), (opening) => {
      this.#openings.delete(openChannel)
      if (opening === undefined) return
      this.#saw(openChannel, opening)
      for (const tell of waiting) tell(opening)
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

  /** Publishes what a read found beyond the position it asked from, and this feed has not published meanwhile. */
  apply(openChannel: OpenChannel, news: News, asked: Position) {
    const position = openChannel.position
    if (position === undefined) return
    if (news.epoch !== position.epoch || news.offset < asked.offset) return this.#restart(openChannel, news)
    if (news.parties !== null) {
      openChannel.parties = news.parties
      for (const subscription of [...openChannel.subscriptions]) subscription.review()
    }
    if (news.offset <= position.offset) return
    const fresh = news.events.filter((event) => event.offset > position.offset)
    // The channel has moved, but what comes next is gone.
    if (fresh[0] === undefined ? news.events.length === 0 : fresh[0].offset !== position.offset + 1)
      return this.#restart(openChannel, news)
    let { offset } = position
    for (const event of fresh) {
      if (event.offset !== offset + 1) break
      offset = event.offset
      this.#move(openChannel, event, news.epoch)
    }
    if (offset < news.offset) this.#options.wake(openChannel.channel.name)
    this.#letOn(openChannel)
  }

  /** On to the next event of the feed: everybody who hears it is sent that. */
  #move(openChannel: OpenChannel, event: EventRow, epoch: string) {
    const { offset } = event
    openChannel.position = { epoch, offset }
    const frame = encodeEvent(openChannel.eventHead, event)
    this.#recent.add(openChannel.channel.name, offset, frame)
    this.counts.published++
    if (openChannel.live === 0) return
    this.counts.delivered += openChannel.live
    for (const publish of this.outlets) publish(openChannel.topic, frame)
  }

  /** Those who were ahead of the feed may have been caught up with. */
  #letOn({ ahead }: OpenChannel) {
    if (ahead.size === 0) return
    const waiting = [...ahead]
    ahead.clear()
    for (const subscription of waiting) subscription.advance()
  }

  /** The first read of a channel says where its feed begins; a later one may find it elsewhere. */
  #saw(openChannel: OpenChannel, { epoch, offset, parties }: Opening) {
    openChannel.parties = parties
    if (openChannel.position === undefined) {
      openChannel.position = { epoch, offset }
      if (openChannel.woken) this.#options.wake(openChannel.channel.name)
    } else if (offset > openChannel.position.offset || epoch !== openChannel.position.epoch) {
      this.#options.wake(openChannel.channel.name)
    }
  }

  /** The channel is not where it was left, or events are gone: everybody starts over from its state. */
  #restart(openChannel: OpenChannel, { epoch, offset }: Position) {
    this.counts.restarts++
    this.#recent.forget(openChannel.channel.name)
    openChannel.position = { epoch, offset }
    for (const subscription of [...openChannel.subscriptions]) subscription.restart()
  }
}
