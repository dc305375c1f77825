import { Context, Effect, Exit, Layer } from "effect"
import { type EmojiId, parseEmojiId } from "../../schema/emoji-id.ts"
import { NotFound, Unavailable } from "../../schema/errors.ts"
import type { LookupResponse } from "../../schema/lookup.ts"
import { percentDecodeStrict } from "../../schema/percent-decode.ts"
import { Bus } from "../bus/bus.ts"
import { AppConfig } from "../config.ts"
import type { Prepared, RequestView } from "../http/exchange.ts"
import { Metrics } from "../metrics.ts"
import { DatabaseClock } from "../store/database-clock.ts"
import { makeReadLookups } from "../store/lookup-rows.ts"
import {
  isHeld,
  isRegistered,
  lookupAnswer,
  notModified,
  notRegistered,
  notRegisteredText,
  preparedSelection,
  readAnswer,
} from "./lookup-answer.ts"
import { LookupCache, LookupEntry } from "./lookup-cache.ts"
import { LookupLoads } from "./lookup-loads.ts"
import { selectByQuery, selectByTicker } from "./lookup-selection.ts"
import { Views } from "./views.ts"

const topic = "emoji_id"
const tickMs = 1000
const maxKeysPerStatement = 500
const maxStatements = 2
const maxWaitingKeys = 20_000
/** A view count is read again after so many seconds, but only so many ids a second: a hot id stays prepared meanwhile. */
const freshTicks = 10
const maxRefreshesPerTick = 100

/**
 * Lookups. An id that was asked for before is answered from memory, as text that is ready to be sent; every commit that
 * changes an id drops its answer in every process before the change is acknowledged.
 */
export class Lookups extends Context.Service<
  Lookups,
  {
    /** Answers of the lookup and of the ticker form, where they are at hand. */
    readonly prepared: (view: RequestView) => Prepared | undefined
    readonly preparedTicker: (view: RequestView) => Prepared | undefined
    /** What a lookup answers now. Counts as a view when the id is registered. */
    view(id: EmojiId): Effect.Effect<Prepared, Unavailable>
    /** The same without counting. */
    find(id: EmojiId): Effect.Effect<Prepared, Unavailable>
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
      const views = yield* Views
      const readLookups = yield* makeReadLookups
      const fork = Effect.runForkWith(yield* Effect.context<never>())

      const cache = new LookupCache({ maxBytes: config.lookupCacheMb * 1024 * 1024 })
      let tick = 0
      let refreshesLeft = maxRefreshesPerTick
      yield* Effect.acquireRelease(
        Effect.sync(() =>
          setInterval(() => {
            tick++
            refreshesLeft = maxRefreshesPerTick
          }, tickMs).unref(),
        ),
        (timer) => Effect.sync(() => clearInterval(timer)),
      )

      const toAnswers = (rows: Effect.Success<ReturnType<typeof readLookups>>) => {
        const answers = new Map<string, Prepared>()
        for (const [canonical, row] of rows) {
          const id = parseEmojiId(canonical)
          if (id._tag === "EmojiId") answers.set(canonical, lookupAnswer(id, row, clock.now()))
        }
        return answers
      }

      const loads = new LookupLoads<Prepared>({
        read: (keys, done) => {
          fork(readLookups(keys)).addObserver((exit) =>
            done(
              Exit.isSuccess(exit)
                ? toAnswers(exit.value)
                : new Unavailable({ error: "The directory cannot be read.", retryAfterSeconds: 1 }),
            ),
          )
        },
        keep: (canonical, answer) => {
          const entry = cache.put(canonical, answer ?? notRegistered)
          if (answer === undefined) return
          entry.freshUntil = tick + freshTicks
          // How most clients will spell it.
          cache.learnSpelling(entry, encodeURIComponent(canonical))
        },
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

      const use = (entry: LookupEntry): void => {
        entry.wasUsed = true
        if (!isRegistered(entry)) return
        views.count(entry)
        if (entry.freshUntil > tick || refreshesLeft === 0) return
        refreshesLeft--
        entry.freshUntil = tick + freshTicks
        loads.want(entry.canonical, () => {})
      }

      const findEntry = (id: EmojiId): Effect.Effect<LookupEntry, Unavailable> =>
        Effect.suspend(() => {
          const known = bus.mayServe() ? cache.find(id.canonical) : undefined
          if (known !== undefined) return Effect.succeed(known)
          return Effect.callback<LookupEntry, Unavailable>((resume) =>
            loads.want(id.canonical, (outcome) =>
              resume(
                outcome instanceof Unavailable
                  ? Effect.fail(outcome)
                  : Effect.succeed(new LookupEntry(id.canonical, outcome ?? notRegistered)),
              ),
            ),
          )
        })

      /** A spelling not seen before: decoded and parsed once, then known as it was sent. */
      const findSpelledNewly = (spelling: string): LookupEntry | undefined => {
        const text = percentDecodeStrict(spelling)
        const id = text === undefined ? undefined : parseEmojiId(text)
        if (id?._tag !== "EmojiId") return undefined
        const entry = cache.find(id.canonical)
        if (entry !== undefined) cache.learnSpelling(entry, spelling)
        return entry
      }

      const findAtHand = (view: RequestView): LookupEntry | undefined => {
        if (!bus.mayServe()) return undefined
        const spelling = view.getParameter(0)
        return cache.findSpelled(spelling) ?? findSpelledNewly(spelling)
      }

      const findSelection = (
        entry: LookupEntry,
        name: string,
        select: (whole: LookupResponse) => unknown,
      ): Prepared | undefined => {
        const known = entry.selections?.get(name)
        if (known !== undefined || !isRegistered(entry)) return known
        const selected = select(readAnswer(entry))
        if (selected === undefined) return undefined
        const made = preparedSelection(entry, selected)
        cache.learnSelection(entry, name, made)
        return made
      }

      const send = (view: RequestView, entry: LookupEntry, answer: Prepared): Prepared => {
        use(entry)
        return isHeld(entry, view.getHeader("if-none-match")) ? notModified(entry) : answer
      }

      const prepared = (view: RequestView): Prepared | undefined => {
        const entry = findAtHand(view)
        if (entry === undefined) return undefined
        const query = view.getQuery()
        const answer =
          query === undefined || query === ""
            ? entry
            : findSelection(entry, `?${query}`, (whole) => selectByQuery(whole, query))
        return answer === undefined ? undefined : send(view, entry, answer)
      }

      const preparedTicker = (view: RequestView): Prepared | undefined => {
        const entry = findAtHand(view)
        if (entry === undefined) return undefined
        const name = view.getParameter(1)
        const answer = findSelection(entry, name, (whole) => selectByTicker(whole, percentDecodeStrict(name)))
        return answer === undefined ? undefined : send(view, entry, answer)
      }

      metrics.gauge("lookup_cache_ids", "Ids whose lookup is prepared", () => cache.size)
      metrics.gauge("lookup_cache_bytes", "Memory of prepared lookups", () => cache.bytes)

      return Lookups.of({
        prepared,
        preparedTicker,
        view: (id) => Effect.tap(findEntry(id), (entry) => Effect.sync(() => use(entry))),
        find: findEntry,
        stats: () => ({ ids: cache.size, bytes: cache.bytes }),
      })
    }),
  )
}

/** The answer as a value. */
export const checkRegistered = (answer: Prepared): Effect.Effect<LookupResponse, NotFound> =>
  isRegistered(answer)
    ? Effect.sync(() => readAnswer(answer))
    : Effect.fail(new NotFound({ error: notRegisteredText }))
