import { Effect } from "effect"
import type { ExpiredRows } from "../../postgres/prune.ts"
import { Sql } from "../../postgres/sql.ts"

export interface ViewBatch {
  readonly number: number
  readonly counts: ReadonlyArray<readonly [canonical: string, views: number]>
}

/** Stores views per id and day, and the number of the last batch of each process. */
export const makeViewStore = Effect.map(Sql, (sql) => ({
  /**
   * Adds the views of a batch. The call can be repeated safely: each process numbers its batches, and the database
   * ignores a number that it has already added.
   */
  addBatch: (process: string, { counts, number }: ViewBatch) => {
    const canonicals = counts.map(([canonical]) => canonical)
    const views = counts.map(([, count]) => count)
    return sql.rows(
      (q) =>
        q`select put_views(${process}::uuid, ${number}::bigint, ${canonicals}::text[], ${views}::bigint[])`,
    )
  },
}))

export const oldViews = (keptDays: number): ExpiredRows => ({
  table: "emoji_id_view",
  time: (q) => q`day`,
  isExpired: (q) => q`day < now()::date - ${keptDays}::int`,
})

/**
 * The batch numbers of processes that have stopped. `at` has no index, because every batch updates it. There is one row for
 * each process of the last day.
 */
export const oldViewBatches: ExpiredRows = {
  table: "view_batch",
  time: (q) => q`at`,
  isExpired: (q) => q`at < now() - interval '1 day'`,
}
