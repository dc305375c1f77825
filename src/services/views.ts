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
/** The directory serves lookups faster than any table takes updates, so views of many ids wait their turn. */
const idsPerFlush = 2_000
/** Ids in the queue; past that, views are lost rather than memory. */
const maxWaiting = 500_000
const pruneEvery = "1 hour"

/**
 * Counts lookups in memory and writes them in batches, so that a lookup never writes. A process that is killed loses what
 * it has not written: two seconds of views, or more when more ids than a batch takes are looked up in that time.
 */
export class Views extends Context.Service<
  Views,
  {
    count(viewed: Viewed): void
    /** Writes all that was counted; for tests and the end of the process. */
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
      /** Oldest first, each once: a view of an id that waits only adds to its count. */
      let waiting: Array<Viewed> = []

      const take = (): ViewBatch | undefined => {
        if (waiting.length === 0) return undefined
        const counts = new Map<string, number>()
        for (const one of waiting.slice(0, idsPerFlush)) {
          counts.set(one.canonical, (counts.get(one.canonical) ?? 0) + one.pendingViews)
          one.pendingViews = 0
        }
        waiting = waiting.slice(idsPerFlush)
        return { number: ++lastNumber, counts: [...counts] }
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
      const flushUpTo = (batches: number) =>
        Effect.gen(function* () {
          for (let sent = 0; sent < batches; sent++) {
            sending ??= take()
            if (sending === undefined) return
            yield* save(sending)
            sending = undefined
          }
        }).pipe(
          Effect.catch((failure) => Effect.logWarning("views wait for the database", failure)),
          Effect.uninterruptible,
          turn.withPermits(1),
        )
      const flush = flushUpTo(Number.POSITIVE_INFINITY)

      const oldestDay = -2 * viewWindowDays
      const prune = sql
        .rows(
          (q) => q`with old as (delete from emoji_id_view where day < current_date + ${oldestDay}::int)
                   delete from view_batch where at < now() - interval '1 day'`,
        )
        .pipe(Effect.ignore)

      yield* Effect.addFinalizer(() => flush)
      yield* Effect.forkScoped(Effect.repeat(flushUpTo(1), Schedule.spaced(flushEvery)))
      yield* Effect.forkScoped(Effect.repeat(prune, Schedule.spaced(pruneEvery)))

      return Views.of({
        count: (one) => {
          if (one.pendingViews++ > 0) return
          if (waiting.length < maxWaiting) waiting.push(one)
          else one.pendingViews = 0
        },
        flush,
      })
    }),
  )
}
