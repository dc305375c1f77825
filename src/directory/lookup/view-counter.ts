import { randomUUID } from "node:crypto"
import { Context, Effect, Layer, Schedule, Semaphore } from "effect"
import { writeAtShutdown } from "../../postgres/write-at-shutdown.ts"
import { makeViewStore, type ViewBatch } from "./view-store.ts"

/**
 * Something that counts views by itself, such as the lookup cache. The view counter reads the counts when it writes a
 * batch.
 */
export interface ViewSource {
  /** Returns the views of an id since the last call, and sets its count to 0. */
  takeViews(canonical: string): number
}

const flushEvery = "250 millis"
/**
 * The maximum number of ids in one batch. Lookups are faster than updates of a table, so the views of many ids may
 * wait in a queue. A batch is small, because the database may share a processor core with the lookups that run at the
 * same time.
 */
const idsPerFlush = 250
/** The maximum number of ids that wait in the queue. Views of further ids are discarded, to limit the memory. */
const maxWaiting = 250_000

/**
 * Counts lookups in memory and writes the counts in batches, so that a lookup never writes to the database. A process
 * that is killed loses the views that it has not written yet: those since the last flush, and older ones if the queue
 * has more ids than fit into a batch.
 */
export class ViewCounter extends Context.Service<
  ViewCounter,
  {
    add(canonical: string, views: number): void
    /**
     * Adds an id to the queue. A source calls this when the count of an id changes from 0 to 1, and not again until the
     * count is taken.
     */
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
      /**
       * Views that were added with `add`. Their ids are in no source, for example because the cache has removed them.
       */
      const counted = new Map<string, number>()
      let sources: ReadonlyArray<ViewSource> = []
      /**
       * Ids whose views are in a source, in the order in which they were queued. The ids before index `next` are
       * already taken.
       */
      let queued: Array<string> = []
      let next = 0

      const take = (): ViewBatch | undefined => {
        const counts = new Map<string, number>()
        for (const end = Math.min(next + idsPerFlush, queued.length); next < end; next++) {
          const canonical = queued[next]!
          const views = sources.reduce((sum, source) => sum + source.takeViews(canonical), 0)
          if (views > 0) counts.set(canonical, views)
        }
        // The taken ids are removed only when they are more than half of the queue. Copying a long queue on every call
        // would be most of the work.
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
            // If this fails, its outcome is unknown. `sending` still has the batch, so the next flush sends the same
            // batch first.
            yield* store.addBatch(process, sending)
            sending = undefined
          }
        }).pipe(
          Effect.catchCause((cause) => Effect.logWarning("view count flush failed", cause)),
          turn.withPermits(1),
        )
      const flush = flushUpTo(Number.POSITIVE_INFINITY)

      yield* writeAtShutdown(flush)
      yield* Effect.forkScoped(Effect.repeat(flushUpTo(1), Schedule.spaced(flushEvery)))

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
