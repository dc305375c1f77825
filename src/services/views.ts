import { randomUUID } from "node:crypto"
import { Context, Effect, Layer, Schedule, Semaphore } from "effect"
import { viewWindowDays } from "../../schema/metric.ts"
import { Sql } from "../store/sql.ts"

/** Carries its own count, so that counting a view is one addition. */
export interface Viewed {
  readonly canonical: string
  pendingViews: number
}

interface ViewBatch {
  readonly number: number
  readonly counts: ReadonlyArray<readonly [canonical: string, views: number]>
}

const flushEvery = "2 seconds"
const idsPerStatement = 5_000
/** Ids whose views wait while the database is away; past that, views are lost rather than memory. */
const maxUnsavedIds = 200_000
const pruneEvery = "1 hour"

/**
 * Counts lookups in memory and writes them in batches, so that a lookup never writes. What was counted since the last batch
 * is lost when the process is killed: at most two seconds of views, never an acknowledged change.
 */
export class Views extends Context.Service<
  Views,
  {
    count(viewed: Viewed): void
    /** Writes what was counted; for tests and the end of the process. */
    readonly flush: Effect.Effect<void>
  }
>()("directory/Views") {
  static readonly layer = Layer.effect(
    Views,
    Effect.gen(function* () {
      const sql = yield* Sql
      const process = randomUUID()
      let lastNumber = 0
      let sending: ViewBatch | undefined
      let viewed: Array<Viewed> = []
      const unsaved = new Map<string, number>()

      const gather = () => {
        const seen = viewed
        viewed = []
        for (const one of seen) {
          const { canonical, pendingViews } = one
          one.pendingViews = 0
          const earlier = unsaved.get(canonical)
          if (earlier === undefined && unsaved.size >= maxUnsavedIds) continue
          unsaved.set(canonical, (earlier ?? 0) + pendingViews)
        }
      }

      const take = (): ViewBatch | undefined => {
        if (unsaved.size === 0) return undefined
        const counts = [...unsaved].slice(0, idsPerStatement)
        for (const [canonical] of counts) unsaved.delete(canonical)
        return { number: ++lastNumber, counts }
      }

      // Safe to repeat: a batch that came through before is recognised by its number. So one whose fate is unknown stays
      // as it is and goes first the next time.
      const save = Effect.fnUntraced(function* ({ counts, number }: ViewBatch) {
        const canonicals = counts.map(([canonical]) => canonical)
        const views = counts.map(([, count]) => count)
        yield* sql.rows(
          (q) =>
            q`select put_views(${process}::uuid, ${number}::bigint, ${canonicals}::text[], ${views}::bigint[])`,
        )
      })

      const turn = yield* Semaphore.make(1)
      const flush = Effect.gen(function* () {
        gather()
        for (sending ??= take(); sending !== undefined; sending = take()) yield* save(sending)
      }).pipe(
        Effect.catch((failure) => Effect.logWarning("views wait for the database", failure)),
        Effect.uninterruptible,
        turn.withPermits(1),
      )

      const prune = sql
        .rows(
          (
            q,
          ) => q`with old as (delete from emoji_id_view where day < current_date - ${2 * viewWindowDays}::int)
                   delete from view_batch where at < now() - interval '1 day'`,
        )
        .pipe(Effect.ignore)

      yield* Effect.addFinalizer(() => flush)
      yield* Effect.forkScoped(Effect.repeat(flush, Schedule.spaced(flushEvery)))
      yield* Effect.forkScoped(Effect.repeat(prune, Schedule.spaced(pruneEvery)))

      return Views.of({
        count: (one) => {
          if (one.pendingViews++ === 0) viewed.push(one)
        },
        flush,
      })
    }),
  )
}
