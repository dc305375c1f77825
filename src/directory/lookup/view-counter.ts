import { randomUUID } from "node:crypto"
import { Context, Effect, Layer, Schedule, Semaphore } from "effect"
import { viewWindowDays } from "../../../schema/directory/metric.ts"
import { makeViewStore, type ViewBatch } from "./view-store.ts"

/** Who counts by itself and is asked for its counts when they are written. */
export interface ViewSource {
  /** The views of an id since they were last taken. */
  takeViews(canonical: string): number
}

const flushEvery = "250 millis"
/** A stop waits no longer for a database that does not answer. */
const flushedWithin = "5 seconds"
/**
 * The directory serves lookups faster than any table takes updates, so views of many ids wait their turn. Few at a time:
 * while the database works on them lookups go on, on perhaps the same core.
 */
const idsPerFlush = 250
/** Ids in the queue; past that, views are lost rather than memory. */
const maxWaiting = 250_000
const pruneEvery = "1 hour"

/**
 * Counts lookups in memory and writes them in batches, so that a lookup never writes. A process that is killed loses what
 * it has not written: two seconds of views, or more when more ids than a batch takes are looked up in that time.
 */
export class ViewCounter extends Context.Service<
  ViewCounter,
  {
    add(canonical: string, views: number): void
    /** The source has views of this id; it says so once until they are taken. */
    queue(canonical: string): void
    takeFrom(source: ViewSource): void
    /** Writes all that was counted; for tests and the end of the process. */
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
      /** Counted here, for ids that are in no source. */
      const counted = new Map<string, number>()
      let sources: ReadonlyArray<ViewSource> = []
      /** Ids of which a source has views, oldest first; those before `next` have been taken. */
      let queued: Array<string> = []
      let next = 0

      const take = (): ViewBatch | undefined => {
        const counts = new Map<string, number>()
        for (const end = Math.min(next + idsPerFlush, queued.length); next < end; next++) {
          const canonical = queued[next]!
          const views = sources.reduce((sum, source) => sum + source.takeViews(canonical), 0)
          if (views > 0) counts.set(canonical, views)
        }
        // Not each time: of a long queue the copy would be the most of the work.
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
            // A batch whose outcome is unknown is kept unchanged and sent first the next time.
            yield* store.addBatch(process, sending)
            sending = undefined
          }
        }).pipe(
          Effect.catchCause((cause) => Effect.logWarning("views wait for the database", cause)),
          turn.withPermits(1),
        )
      const flush = flushUpTo(Number.POSITIVE_INFINITY)

      const prune = Effect.forEach(
        [store.deleteViews(2 * viewWindowDays), store.deleteOldBatches()],
        Effect.catchCause((cause) =>
          Effect.logWarning("old views not deleted, the next round tries again", cause),
        ),
        { discard: true },
      )

      yield* Effect.addFinalizer(() => Effect.interruptible(Effect.timeoutOption(flush, flushedWithin)))
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
