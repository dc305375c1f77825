import { Context, Effect, Exit, Layer } from "effect"
import { type EmojiId, parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import type { LookupResponse } from "../../../schema/directory/lookup.ts"
import { NotFound, Unavailable } from "../../../schema/errors.ts"
import { percentDecodeStrict } from "../../../schema/percent-decode.ts"
import { Bus } from "../../cluster/bus.ts"
import { AppConfig } from "../../config/config.ts"
import type { Precomputed, RequestView } from "../../http/endpoint.ts"
import { headerKey } from "../../http/request/header-key.ts"
import { DatabaseClock } from "../../postgres/database-clock.ts"
import { Metrics } from "../../telemetry/metrics.ts"
import {
  isHeld,
  isRegistered,
  type LookupAnswer,
  lookupAnswer,
  notModified,
  notRegistered,
  notRegisteredText,
  preparedSelection,
  readAnswer,
} from "./answer.ts"
import { LookupCache } from "./cache.ts"
import { makeReadLookups } from "./lookup-store.ts"
import { PendingLoads } from "./pending-loads.ts"
import { paymentForm, selectByQuery, selectByTicker } from "./select-records.ts"
import { ViewCounter } from "./view-counter.ts"

const topic = "emoji_id"
const ifNoneMatch = headerKey("if-none-match")
const tickMs = 1000
const maxKeysPerStatement = 500
const maxStatements = 2
const maxWaitingKeys = 20_000
/** A view count is read again after so many seconds, but only so many ids a second: a hot id stays prepared meanwhile. */
const freshTicks = 10
const maxRefreshesPerTick = 100
/** An answer not read again for so long after that counts the views of another time: it is as good as none. */
const keptTicks = 3600

/**
 * Lookups. An id that was asked for before is answered from memory, as text that is ready to be sent; every commit that
 * changes an id drops its answer in every process before the change is acknowledged.
 */
export class Lookups extends Context.Service<
  Lookups,
  {
    /** Answers of the lookup, the payment and the ticker form, where they are at hand. */
    readonly prepared: (view: RequestView) => Precomputed | undefined
    readonly preparedPayment: (view: RequestView) => Precomputed | undefined
    readonly preparedTicker: (view: RequestView) => Precomputed | undefined
    /** What a lookup answers now. Counts as a view when the id is registered. */
    view(id: EmojiId): Effect.Effect<LookupAnswer, Unavailable>
    /** The same without counting. */
    find(id: EmojiId): Effect.Effect<LookupAnswer, Unavailable>
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
      const viewCounter = yield* ViewCounter
      const readLookups = yield* makeReadLookups
      const fork = Effect.runForkWith(yield* Effect.context<never>())

      const cache = new LookupCache({
        maxBytes: config.lookupCacheMb * 1024 * 1024,
        lost: viewCounter.add,
      })
      viewCounter.takeFrom(cache)
      let tick = 0
      /** Asked for, and due to be read again at the next tick, all in one statement. */
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
          fork(readLookups(keys)).addObserver((exit) =>
            done(
              Exit.isSuccess(exit)
                ? toAnswers(exit.value)
                : new Unavailable({ error: "The directory cannot be read.", retryAfterSeconds: 1 }),
            ),
          )
        },
        keep: (canonical, answer) => cache.put(canonical, answer ?? notRegistered, tick + freshTicks),
        mayJoin: bus.mayServe,
        maxKeysPerStatement,
        maxStatements,
        maxWaitingKeys,
      })

      bus.onInvalidate(topic, (keys) => {
        loads.disown(keys)
        if (keys === "all") cache.clear()
        else for (const key of keys) cache.drop(key)
      })

      const isRecent = (): boolean => cache.freshUntil + keptTicks > tick

      /** The current answer of the cache is being sent. */
      const use = (): void => {
        cache.use()
        if (!cache.isRegistered) return
        if (cache.addView() === 1) viewCounter.queue(cache.canonical)
        if (cache.freshUntil > tick || stale.size >= maxRefreshesPerTick) return
        cache.freshUntil = tick + freshTicks
        stale.add(cache.canonical)
      }

      const findAnswer = (id: EmojiId): Effect.Effect<LookupAnswer, Unavailable> =>
        Effect.suspend(() => {
          if (bus.mayServe() && cache.find(id.canonical) && isRecent()) return Effect.succeed(cache.read())
          return Effect.callback<LookupAnswer, Unavailable>((resume) =>
            loads.want(id.canonical, (outcome) =>
              resume(
                outcome instanceof Unavailable
                  ? Effect.fail(outcome)
                  : Effect.succeed(outcome ?? notRegistered),
              ),
            ),
          )
        })

      /** A spelling not seen before: decoded and parsed once, then known as it was sent. */
      const findSpelledNewly = (spelling: string): boolean => {
        const text = percentDecodeStrict(spelling)
        const id = text === undefined ? undefined : parseEmojiId(text)
        if (id?._tag !== "EmojiId" || !cache.find(id.canonical)) return false
        cache.learnSpelling(id.canonical, spelling)
        return true
      }

      const findAtHand = (view: RequestView): boolean => {
        if (!bus.mayServe()) return false
        const spelling = view.getParameter(0)
        return (cache.findSpelled(spelling) || findSpelledNewly(spelling)) && isRecent()
      }

      const findSelection = (
        name: string,
        select: (whole: LookupResponse) => unknown,
      ): Precomputed | undefined => {
        const known = cache.selection(name)
        if (known !== undefined || !cache.isRegistered) return known
        const selected = select(readAnswer(cache.read()))
        if (selected === undefined) return undefined
        const made = preparedSelection(cache.own, selected)
        cache.learnSelection(name, made)
        return made
      }

      const send = (view: RequestView, answer: Precomputed): Precomputed => {
        use()
        const held = view.getHeader(ifNoneMatch)
        return held !== "" && isHeld(cache.own, held) ? notModified(cache.own) : answer
      }

      const prepared = (view: RequestView): Precomputed | undefined => {
        if (!findAtHand(view)) return undefined
        const query = view.getQuery()
        const answer =
          query === undefined || query === ""
            ? cache.answer
            : findSelection(`?${query}`, (whole) => selectByQuery(whole, query))
        return answer && send(view, answer)
      }

      const preparedPayment = (view: RequestView): Precomputed | undefined => {
        if (!findAtHand(view)) return undefined
        const query = view.getQuery() ?? ""
        if (!cache.isRegistered) return query === "" ? send(view, cache.answer) : undefined
        // The name begins with a slash, which the path segment of a ticker form cannot contain.
        const answer = findSelection(`/payment?${query}`, (whole) => {
          const selected = selectByQuery(whole, query)
          return selected && paymentForm(selected)
        })
        return answer && send(view, answer)
      }

      const preparedTicker = (view: RequestView): Precomputed | undefined => {
        if (!findAtHand(view)) return undefined
        const name = view.getParameter(1)
        const answer = findSelection(name, (whole) => selectByTicker(whole, percentDecodeStrict(name)))
        return answer && send(view, answer)
      }

      metrics.gauge("lookup_cache_ids", "Ids whose lookup is prepared", () => cache.size)
      metrics.gauge("lookup_cache_bytes", "Memory of prepared lookups", () => cache.bytes)

      return Lookups.of({
        prepared,
        preparedPayment,
        preparedTicker,
        view: (id) =>
          Effect.map(findAnswer(id), (answer) => {
            if (cache.find(id.canonical)) use()
            else if (isRegistered(answer)) viewCounter.add(id.canonical, 1)
            return answer
          }),
        find: findAnswer,
        stats: () => ({ ids: cache.size, bytes: cache.bytes }),
      })
    }),
  )
}

/** The answer as a value. */
export const checkRegistered = (answer: LookupAnswer): Effect.Effect<LookupResponse, NotFound> =>
  isRegistered(answer)
    ? Effect.sync(() => readAnswer(answer))
    : Effect.fail(new NotFound({ error: notRegisteredText }))
