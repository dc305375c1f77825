import { Context, Effect, Exit, Layer } from "effect"
import {
  catchError,
  concatMap,
  EMPTY,
  filter,
  from,
  interval,
  map,
  merge,
  Observable,
  Subject,
  tap,
} from "rxjs"
import { Unavailable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { Events } from "../turns/event-store.ts"
import type { Channel } from "./channel-names.ts"
import { ChannelRegistry, type Publish } from "./channel-registry.ts"
import { LocalPublish } from "./local-publish.ts"
import { makeStateLoader } from "./state-loader.ts"
import type { Prove, Subscriber, Subscription } from "./subscription.ts"
import { decodeWake } from "./wake-message.ts"

export interface HubOptions {
  /** Interval of the check that finds events whose wake-up was lost. */
  readonly checkMs: number
}

/** A wake-up of all open channels, in place of one channel's name. */
const everyChannel = Symbol("every channel")
type Wake = string | typeof everyChannel

const settleWithin = "500 millis"
const channelsPerStatement = 2000

const listenTo = <A>(subscribe: (handler: (value: A) => void) => () => void) =>
  new Observable<A>((subscriber) => subscribe((value) => subscriber.next(value)))

/** Turns wake-ups of channels into their events: in order, each event once. */
export class Hub extends Context.Service<
  Hub,
  {
    /** Adds a subscription. The caller must start it. */
    join(channel: Channel, subscriber: Subscriber, requested: string, prove?: Prove): Subscription
    /** Waits until the events committed to the channel so far are published here, for at most half a second. */
    settle(name: string): Effect.Effect<void>
    /** Adds a transport. Returns a function that removes it. */
    attach(publish: Publish): () => void
    counts(): ChannelRegistry["counts"] & {
      readonly channels: number
      readonly subscriptions: number
      /** How many times a check found new events of a channel whose wake-up did not arrive before the next check. */
      readonly repaired: number
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
        const context = yield* Effect.context<never>()
        const fork = Effect.runForkWith(context)
        const runPromise = Effect.runPromiseWith(context)
        let repaired = 0

        const run = <A>(effect: Effect.Effect<A>, done: (value: A) => void): void => {
          fork(effect).addObserver((exit) => {
            if (Exit.isSuccess(exit)) done(exit.value)
            else fork(Effect.logError("live read failed", exit.cause))
          })
        }
        const requests = new Subject<string>()
        const openChannels = new ChannelRegistry({ stateLoader, run, wake: (name) => requests.next(name) })
        /** Channels whose events the last check found before their wake-up, which may still arrive. */
        const unannounced = new Set<string>()

        const announcements = listenTo<string>((handler) => bus.subscribe("channel", handler)).pipe(
          map(decodeWake),
          tap(({ name }) => void unannounced.delete(name)),
          filter(({ name, offset }) => openChannels.isWanted(name, offset)),
          map(({ name }) => name),
        )
        const gaps = listenTo<void>((handler) => bus.onGap(handler))
        const checks = merge(interval(checkMs), gaps).pipe(
          tap(() => openChannels.closeUnused()),
          filter(() => openChannels.size > 0),
          map((): Wake => everyChannel),
        )

        let batch = new Set<Wake>()
        let settling: Array<() => void> = []
        const startsBatch = (wake: Wake): boolean => {
          const isFirst = batch.size === 0
          batch.add(wake)
          return isFirst
        }
        const readBatch = async function* () {
          // Waits for the rest of a burst of wake-ups, which arrives in this turn of the event loop.
          await new Promise<void>((resolve) => void setImmediate(resolve))
          const [woken, settled] = [batch, settling]
          batch = new Set()
          settling = []
          const isCheck = woken.delete(everyChannel)
          if (isCheck) {
            repaired += unannounced.size
            unannounced.clear()
          }
          const names = isCheck ? [...openChannels.names()] : [...(woken as Set<string>)]
          for (let at = 0; at < names.length; at += channelsPerStatement) {
            const standings = names.slice(at, at + channelsPerStatement).flatMap((name) => {
              const openChannel = openChannels.find(name)
              return openChannel?.position === undefined ? [] : { ...openChannel.position, name, openChannel }
            })
            if (standings.length === 0) continue
            yield { standings, woken, news: await runPromise(events.news(standings)) }
          }
          for (const done of settled) done()
        }

        // Wake, coalesce, read, fan out. One batch is read at a time; wake-ups during a read form the next batch.
        const wanted = requests.pipe(filter((name) => openChannels.isWanted(name)))
        const pipeline = merge(wanted, announcements, checks)
          .pipe(
            filter(startsBatch),
            concatMap(() =>
              from(readBatch()).pipe(
                tap(({ news, standings, woken }) => {
                  const byName = new Map(standings.map((standing) => [standing.name, standing]))
                  for (const found of news) {
                    const standing = byName.get(found.name)!
                    // The result is skipped if all subscribers left during the read, even if others joined.
                    if (openChannels.find(found.name) !== standing.openChannel) continue
                    if (!woken.has(found.name)) unannounced.add(found.name)
                    openChannels.apply(standing.openChannel, found, standing)
                  }
                }),
                catchError((cause) => {
                  // After an outage of the database, the next check reads these channels.
                  if (!(cause instanceof Unavailable))
                    fork(Effect.logError("publishing live events failed", cause))
                  return EMPTY
                }),
              ),
            ),
          )
          .subscribe()
        const stopListening = localPublish.listen((event) => {
          unannounced.delete(event.channel)
          return openChannels.publishCommitted(event)
        })
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            stopListening()
            pipeline.unsubscribe()
          }),
        )

        return Hub.of({
          join: (...subscription) => openChannels.join(...subscription),
          settle: (name) =>
            Effect.callback<void>((resume) => {
              settling.push(() => resume(Effect.void))
              requests.next(name)
            }).pipe(Effect.timeout(settleWithin), Effect.ignore),
          attach: (publish) => {
            openChannels.outlets.add(publish)
            return () => openChannels.outlets.delete(publish)
          },
          counts: () => ({
            ...openChannels.counts,
            repaired,
            channels: openChannels.size,
            subscriptions: openChannels.subscriptions,
          }),
        })
      }),
    )
}
