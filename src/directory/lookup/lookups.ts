import { Context, Effect, Exit, Layer } from "effect"
import { type EmojiId, parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import type { LookupResponse } from "../../../schema/directory/lookup.ts"
import { NotFound, Unavailable } from "../../../schema/errors.ts"
import { percentDecodeStrict } from "../../../schema/percent-decode.ts"
import { Bus } from "../../cluster/bus.ts"
import { AppConfig } from "../../config/read-config.ts"
import { DatabaseClock } from "../../postgres/database-clock.ts"
import { Metrics } from "../../telemetry/metrics.ts"
import { recordBatches } from "../../turns/turn-metrics.ts"
import {
  isRegistered,
  type LookupAnswer,
  lookupAnswer,
  notRegistered,
  notRegisteredText,
  readAnswer,
} from "./answer.ts"
import { LookupCache } from "./cache.ts"
import type { CachedAnswer } from "./cached-answer.ts"
import { makeCachedBatch } from "./cached-batch.ts"
import { makeReadLookups } from "./lookup-store.ts"
import { PendingLoads } from "./pending-loads.ts"
import { makePreparedAnswers, type Prepare } from "./prepared-answers.ts"
import { SignedAnswers } from "./signed-answers.ts"
import { makeUncachedAnswers } from "./uncached-answers.ts"
import { ViewCounter } from "./view-counter.ts"

const topic = "emoji_id"
const tickMs = 1000
const maxKeysPerStatement = 500
const maxStatements = 2
const maxWaitingKeys = 20_000
/**
 * A cached view count is fresh for 10 ticks of one second. The first lookup after that schedules a new read of the id,
 * for at most 100 ids per tick. Until the id is read, the cached answer is still sent.
 */
const freshTicks = 10
const maxRefreshesPerTick = 100
/**
 * An answer whose view count is no longer fresh is used for at most one more hour. After that, the count is too old,
 * and the id is read again before it is answered.
 */
const keptTicks = 3600

/**
 * Looks up emoji ids. The cache keeps the answers of requested ids in memory, as bytes that are ready to be sent.
 * Every commit that changes an id removes its answer from the caches of all processes before the commit.
 */
export class Lookups extends Context.Service<
  Lookups,
  {
    /**
     * These functions return the response of the lookup, payment, resolve and ticker route, made from the cached answer
     * of the id. They return undefined if the cache cannot answer the request. The route's handler then answers.
     */
    readonly prepared: {
      readonly [Form in "lookup" | "payment" | "resolve" | "ticker"]: Prepare
    }
    /** Returns the response to a lookup of these ids, or undefined if the cache cannot answer all of them. */
    readonly cachedBatch: ReturnType<typeof makeCachedBatch>
    /** Makes the function that answers lookups of ids that are not in the cache without a fiber. */
    readonly direct: ReturnType<typeof makeUncachedAnswers>
    /**
     * Looks an id up and counts a view if the id is registered. `admit` runs first if the id is not in the cache. If it
     * fails, the id is not looked up.
     */
    view<E = never, R = never>(
      id: EmojiId,
      admit?: Effect.Effect<void, E, R>,
    ): Effect.Effect<LookupAnswer, E | Unavailable, R>
    /** Looks an id up like `view`, without counting a view. */
    find<E = never, R = never>(
      id: EmojiId,
      admit?: Effect.Effect<void, E, R>,
    ): Effect.Effect<LookupAnswer, E | Unavailable, R>
    readonly stats: () => { readonly ids: number; readonly bytes: number }
  }
>()("directory/Lookups") {
  static readonly layer = Layer.effect(
    Lookups,
    Effect.gen(function* () {
      const config = yield* AppConfig
      const bus = yield* Bus
      const clock = yield* DatabaseClock
      const metrics = yield* Metrics
      const signed = yield* SignedAnswers
      const viewCounter = yield* ViewCounter
      const readLookups = yield* makeReadLookups
      const fork = Effect.runForkWith(yield* Effect.context<never>())

      const cache = new LookupCache({
        maxBytes: config.lookupCacheMb * 1024 * 1024,
        onRemoved: viewCounter.add,
      })
      viewCounter.takeFrom(cache)
      let tick = 0
      /** Ids whose view count is too old. The next tick reads all of them with one statement. */
      const stale = new Set<string>()
      yield* Effect.acquireRelease(
        Effect.sync(() =>
          setInterval(() => {
            tick++
            for (const canonical of stale) loads.want(canonical, () => {})
            stale.clear()
          }, tickMs).unref(),
        ),
        (timer) => Effect.sync(() => clearInterval(timer)),
      )

      const recordBatch = recordBatches(metrics, "lookups")
      const toAnswers = (rows: Effect.Success<ReturnType<typeof readLookups>>) => {
        const answers = new Map<string, LookupAnswer>()
        for (const [canonical, row] of rows) {
          const id = parseEmojiId(canonical)
          if (id._tag === "EmojiId") answers.set(canonical, lookupAnswer(id, row, clock.now()))
        }
        return answers
      }

      const loads = new PendingLoads<LookupAnswer>({
        read: (keys, done) => {
          recordBatch(keys.length)
          fork(readLookups(keys)).addObserver((exit) =>
            done(
              Exit.isSuccess(exit)
                ? toAnswers(exit.value)
                : new Unavailable({
                    error: "The directory is temporarily unavailable. Retry later.",
                    retryAfterSeconds: 1,
                  }),
            ),
          )
        },
        store: (canonical, answer) => {
          if (!bus.isMarked(topic, canonical))
            cache.put(canonical, answer ?? notRegistered, tick + freshTicks)
        },
        mayJoin: (canonical) => bus.mayServe() && !bus.isMarked(topic, canonical),
        maxKeysPerStatement,
        maxStatements,
        maxWaitingKeys,
      })

      bus.onInvalidate(topic, (keys) => {
        loads.invalidate(keys)
        if (keys === "all") cache.clear()
        else for (const key of keys) cache.drop(key)
      })

      const isRecent = (answer: CachedAnswer): boolean => answer.freshUntil + keptTicks > tick

      /** Must be called when an answer is sent. Counts the view, and schedules a new read if the view count is old. */
      const use = (answer: CachedAnswer): void => {
        answer.wasUsed = true
        if (!answer.isRegistered) return
        answer.views++
        if (answer.views === 1) viewCounter.queue(answer.canonical)
        if (answer.freshUntil > tick || stale.size >= maxRefreshesPerTick) return
        answer.freshUntil = tick + freshTicks
        stale.add(answer.canonical)
      }

      const read = (canonical: string, done: (outcome: LookupAnswer | Unavailable) => void): void =>
        loads.want(canonical, (outcome) => done(outcome ?? notRegistered))

      const load = ({ canonical }: EmojiId) =>
        Effect.callback<LookupAnswer, Unavailable>((resume) =>
          read(canonical, (outcome) =>
            resume(outcome instanceof Unavailable ? Effect.fail(outcome) : Effect.succeed(outcome)),
          ),
        )

      const findRecent = (canonical: string): CachedAnswer | undefined => {
        const cached = bus.mayServe() ? cache.find(canonical) : undefined
        return cached !== undefined && isRecent(cached) ? cached : undefined
      }

      const countView = (canonical: string, answer: LookupAnswer): void => {
        const cached = cache.find(canonical)
        if (cached !== undefined) use(cached)
        else if (isRegistered(answer)) viewCounter.add(canonical, 1)
      }

      const findAnswer = <E, R>(
        id: EmojiId,
        admit?: Effect.Effect<void, E, R>,
      ): Effect.Effect<LookupAnswer, E | Unavailable, R> =>
        Effect.suspend((): Effect.Effect<LookupAnswer, E | Unavailable, R> => {
          const cached = findRecent(id.canonical)
          if (cached !== undefined) return Effect.succeed(cached.toText())
          return admit === undefined ? load(id) : Effect.flatMapEager(admit, () => load(id))
        })

      /**
       * Finds a cached answer by a spelling that is not in the cache yet. The spelling is decoded and parsed, and then
       * stored in the cache, so that the next request with the same spelling is answered without decoding and parsing.
       */
      const findNewSpelling = (spelling: string): CachedAnswer | undefined => {
        const text = percentDecodeStrict(spelling)
        const id = text === undefined ? undefined : parseEmojiId(text)
        const answer = id?._tag === "EmojiId" ? cache.find(id.canonical) : undefined
        if (answer !== undefined) cache.learnSpelling(answer.canonical, spelling)
        return answer
      }

      const findCached = (spelling: string): CachedAnswer | undefined => {
        if (!bus.mayServe()) return undefined
        const answer = cache.findSpelled(spelling) ?? findNewSpelling(spelling)
        return answer !== undefined && isRecent(answer) ? answer : undefined
      }

      const prepared = makePreparedAnswers({ cache, findCached, use, now: () => clock.now(), signed })

      metrics.gauge(
        "lookup_cache_ids",
        "Emoji ids in the lookup caches, counted in each worker",
        () => cache.size,
      )
      metrics.gauge("lookup_cache_bytes", "Bytes used by the lookup caches", () => cache.bytes)

      return Lookups.of({
        prepared,
        cachedBatch: makeCachedBatch({ findCached, use }),
        direct: makeUncachedAnswers({
          isCached: (canonical) => findRecent(canonical) !== undefined,
          load: read,
          countView,
        }),
        view: (id, admit) =>
          Effect.map(findAnswer(id, admit), (answer) => {
            countView(id.canonical, answer)
            return answer
          }),
        find: findAnswer,
        stats: () => ({ ids: cache.size, bytes: cache.bytes }),
      })
    }),
  )
}

/** Returns the parsed response of a registered id. Fails with 404 if the id is not registered. */
export const checkRegistered = (answer: LookupAnswer): Effect.Effect<LookupResponse, NotFound> =>
  isRegistered(answer)
    ? Effect.sync(() => readAnswer(answer))
    : Effect.fail(new NotFound({ error: notRegisteredText }))
