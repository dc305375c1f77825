import { Context, Effect, Exit, Layer } from "effect"
import { defer, filter, fromEventPattern, interval, map, merge, Subject, tap, throttle } from "rxjs"
import { Bus } from "../cluster/bus.ts"
import { Events } from "../turns/event-store.ts"
import type { Channel } from "./channel-names.ts"
import { ChannelRegistry, type Publish } from "./channel-registry.ts"
import { LocalPublish } from "./local-publish.ts"
import { makeStateLoader } from "./state-loader.ts"
import type { Subscriber, Subscription } from "./subscription.ts"
import { decodeWake } from "./wake-message.ts"

export interface HubOptions {
  /** A wake-up that got lost is noticed within this. */
  readonly checkMs: number
}

type Wake = string | typeof everything

/** Stands among names of channels for all of them. */
const everything = Symbol("every channel")
const settleWithin = "500 millis"
/** Channels asked about in one statement. */
const standingsPerRead = 2000

/** From the bus to the topics: turns "something happened on this channel" into its events, in order, each once. */
export class Hub extends Context.Service<
  Hub,
  {
    /** The subscription is still to be started. */
    join(channel: Channel, subscriber: Subscriber, asked: string): Subscription
    /** Done when everything committed to the channel before has been published here, or soon anyway. */
    settle(name: string): Effect.Effect<void>
    /** Adds a transport; returns what takes it away again. */
    attach(publish: Publish): () => void
    counts(): ChannelRegistry["counts"] & {
      readonly channels: number
      readonly subscriptions: number
      /** Channels whose events were found by the position check, and whose wake-up has not come until the next one. */
      readonly repaired: number
      readonly readFailures: number
    }
  }
>()("directory/Hub") {
  static readonly layer = ({ checkMs }: HubOptions) =>
    Layer.effect(
      Hub,
      Effect.gen(function* () {
        const bus = yield* Bus
        const localPublish = yield* LocalPublish
        const events = yield* Events
        const stateLoader = yield* makeStateLoader
        const fork = Effect.runForkWith(yield* Effect.context<never>())
        const counts = { repaired: 0, readFailures: 0 }

        const run = <A>(effect: Effect.Effect<A>, done: (value: A) => void): void => {
          fork(effect).addObserver((exit) => {
            if (Exit.isSuccess(exit)) done(exit.value)
            else fork(Effect.logError("a live read failed", exit.cause))
          })
        }
        /** Channels where the last check found what nobody was woken for; the wake-up may still be on its way. */
        const unexplained = new Set<string>()
        const calls = new Subject<string>()
        const openChannels = new ChannelRegistry({ stateLoader, run, wake: (name) => calls.next(name) })

        const read = Effect.fnUntraced(function* (names: ReadonlyArray<string>, woken: ReadonlySet<string>) {
          const known = names
            .flatMap((name) => openChannels.find(name) ?? [])
            .filter((openChannel) => openChannel.position !== undefined)
          for (let from = 0; from < known.length; from += standingsPerRead) {
            const asked = new Map(
              known
                .slice(from, from + standingsPerRead)
                .map((openChannel) => [openChannel.channel.name, openChannel] as const),
            )
            const standings = Array.from(asked, ([name, openChannel]) => ({ name, ...openChannel.position! }))
            const places = new Map(standings.map((standing) => [standing.name, standing]))
            for (const news of yield* events.news(standings)) {
              const openChannel = asked.get(news.name)
              // Somebody left and came back while this was read: that feed is another, with a position of its own.
              if (openChannel === undefined || openChannels.find(news.name) !== openChannel) continue
              if (!woken.has(news.name)) unexplained.add(news.name)
              openChannels.apply(openChannel, news, places.get(news.name)!)
            }
          }
        })

        const wakes = merge(
          calls.pipe(filter((name) => openChannels.isWanted(name))),
          fromEventPattern<string>(
            (handler) => bus.subscribe("channel", handler),
            (_, stop: () => void) => stop(),
          ).pipe(
            map(decodeWake),
            tap(({ name }) => void unexplained.delete(name)),
            filter(({ name, offset }) => openChannels.isWanted(name, offset)),
            map(({ name }) => name),
          ),
        )
        const checks = merge(
          interval(checkMs),
          fromEventPattern<void>(
            (handler) => bus.onGap(handler),
            (_, stop: () => void) => stop(),
          ),
        ).pipe(
          filter(() => openChannels.size > 0),
          map((): Wake => everything),
        )

        // One read at a time; what is woken meanwhile gathers here and shares the next.
        const gathered = new Set<Wake>()
        let settling: Array<() => void> = []
        const takeTurn = Effect.gen(function* () {
          // The rest of the burst comes in this turn of the loop.
          yield* Effect.promise(() => new Promise<void>((resume) => void setImmediate(resume)))
          const all = gathered.delete(everything)
          const woken = gathered as Set<string>
          const names = all ? [...openChannels.names()] : [...woken]
          const wokenNow = new Set(woken)
          gathered.clear()
          if (all) {
            counts.repaired += unexplained.size
            unexplained.clear()
          }
          const settled = settling
          settling = []
          yield* read(names, wokenNow)
          for (const tell of settled) tell()
        }).pipe(
          // The next check finds what this read would have.
          Effect.catch(() => Effect.sync(() => void counts.readFailures++)),
          Effect.catchCause((cause) => Effect.logError("live events could not be published", cause)),
        )
        const pipeline = merge(wakes, checks)
          .pipe(
            map((wake) => void gathered.add(wake)),
            throttle(
              () => defer(() => new Promise<void>((done) => fork(takeTurn).addObserver(() => done()))),
              { leading: true, trailing: true },
            ),
          )
          .subscribe()
        const stopListening = localPublish.listen((event) => {
          unexplained.delete(event.channel)
          return openChannels.show(event)
        })
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            stopListening()
            pipeline.unsubscribe()
          }),
        )

        return Hub.of({
          join: (channel, subscriber, asked) => openChannels.join(channel, subscriber, asked),
          settle: (name) =>
            Effect.callback<void>((resume) => {
              settling.push(() => resume(Effect.void))
              calls.next(name)
            }).pipe(Effect.timeout(settleWithin), Effect.ignore),
          attach: (publish) => {
            openChannels.outlets.add(publish)
            return () => openChannels.outlets.delete(publish)
          },
          counts: () => ({
            ...openChannels.counts,
            ...counts,
            channels: openChannels.size,
            subscriptions: openChannels.subscriptions,
          }),
        })
      }),
    )
}
