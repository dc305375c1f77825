import { randomUUID } from "node:crypto"
import { Context, Effect, Layer, Schedule, Semaphore } from "effect"
import { viewWindowDays } from "../../../schema/directory/metric.ts"
import { makeViewStore, type ViewBatch } from "./view-store.ts"

/** Counts views itself. Its counts are taken when a batch is written. */
export interface ViewSource {
  /** Returns the views of an id since the last call, and resets them. */
  takeViews(canonical: string): number
}

const flushEvery = "250 millis"
/** How long shutdown waits for the last flush. */
const maxShutdownFlush = "5 seconds"
/**
 * Lookups are faster than updates of a table, so the views of many ids wait in a queue. Batches are small because the
 * database may share a core with the lookups that continue meanwhile.
 */
const idsPerFlush = 250
/** The limit of ids in the queue. Views of further ids are discarded to bound memory. */
const maxWaiting = 250_000
const pruneEvery = "1 hour"

/**
 * Counts lookups in memory and writes them in batches, so that a lookup never writes to the database. A killed process
 * loses the views that it has not written: those of two seconds, or more if more ids are queued than fit into a batch.
 */
export class ViewCounter extends Context.Service<
  ViewCounter,
  {
    add(canonical: string, views: number): void
    /** Adds an id to the queue. A source calls this once for each id that has views, until they are taken. */
    queue(canonical: string): void
    takeFrom(source: ViewSource): void
    /** Writes all counted views. Used by tests and at shutdown. */
    readonly flush: Effect.Effect<void>
  }
>()("directory/ViewCounter") {
  static readonly layer = Layer.effect(
    ViewCounter,
    Effect.gen(function* () {
      const store = yield* makeViewStore
      const process = randomUUID()
      let lastNumber = 0
      let sending: ViewBatch | undefined
      /** Views of ids that no source holds. */
      const counted = new Map<string, number>()
      let sources: ReadonlyArray<ViewSource> = []
      /** Ids whose views a source holds, oldest first. Those before `next` are already taken. */
      let queued: Array<string> = []
      let next = 0

      const take = (): ViewBatch | undefined => {
        const counts = new Map<string, number>()
        for (const end = Math.min(next + idsPerFlush, queued.length); next < end; next++) {
          const canonical = queued[next]!
          const views = sources.reduce((sum, source) => sum + source.takeViews(canonical), 0)
          if (views > 0) counts.set(canonical, views)
        }
        // Not on every call: copying a long queue would be most of the work.
        if (next > queued.length / 2) {
          queued = queued.slice(next)
          next = 0
        }
        for (const [canonical, views] of counted) {
          if (counts.size >= idsPerFlush) break
          counts.set(canonical, (counts.get(canonical) ?? 0) + views)
          counted.delete(canonical)
        }
        return counts.size === 0 ? undefined : { number: ++lastNumber, counts: [...counts] }
      }

      const turn = yield* Semaphore.make(1)
      const flushUpTo = (batches: number) =>
        Effect.gen(function* () {
          for (let sent = 0; sent < batches; sent++) {
            sending ??= take()
            if (sending === undefined) return
            // If the outcome is unknown, the same batch is sent again first the next time.
            yield* store.addBatch(process, sending)
            sending = undefined
          }
        }).pipe(
          Effect.catchCause((cause) => Effect.logWarning("view count flush failed", cause)),
          turn.withPermits(1),
        )
      const flush = flushUpTo(Number.POSITIVE_INFINITY)

      const prune = Effect.forEach(
        [store.deleteViews(2 * viewWindowDays), store.deleteOldBatches()],
        Effect.catchCause((cause) => Effect.logWarning("view count pruning failed", cause)),
        { discard: true },
      )

      yield* Effect.addFinalizer(() => Effect.interruptible(Effect.timeoutOption(flush, maxShutdownFlush)))
      yield* Effect.forkScoped(Effect.repeat(flushUpTo(1), Schedule.spaced(flushEvery)))
      yield* Effect.forkScoped(Effect.repeat(prune, Schedule.spaced(pruneEvery)))

      return ViewCounter.of({
        add: (canonical, views) => {
          if (counted.size < maxWaiting || counted.has(canonical))
            counted.set(canonical, (counted.get(canonical) ?? 0) + views)
        },
        queue: (canonical) => {
          if (queued.length - next < maxWaiting) queued.push(canonical)
          else for (const source of sources) source.takeViews(canonical)
        },
        takeFrom: (source) => {
          sources = [...sources, source]
        },
        flush,
      })
    }),
  )
}
