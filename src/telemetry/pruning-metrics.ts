import { Context, Metric } from "effect"

const empty = Context.empty()

const makeMetrics = (table: string) => {
  const attributes = { table }
  return {
    deleted: Metric.counter("pruned_rows_total", {
      description: "Rows that this process deleted because their retention has ended",
      incremental: true,
      attributes,
    }),
    oldest: Metric.gauge("pruned_oldest_row_seconds", {
      description: "Age of the oldest row after the last run of this process",
      attributes,
    }),
    lastRun: Metric.gauge("pruned_last_run_timestamp_seconds", {
      description: "When this process last finished deleting rows of the table, as a Unix time",
      attributes,
    }),
  }
}

const byTable = new Map<string, ReturnType<typeof makeMetrics>>()

/** Records a completed run over a table. `oldestSeconds` is undefined for a table without times. */
export const recordPruned = (
  table: string,
  { deleted, oldestSeconds }: { readonly deleted: number; readonly oldestSeconds?: number },
): void => {
  const metrics = byTable.get(table) ?? makeMetrics(table)
  byTable.set(table, metrics)
  metrics.deleted.updateUnsafe(deleted, empty)
  if (oldestSeconds !== undefined) metrics.oldest.updateUnsafe(oldestSeconds, empty)
  metrics.lastRun.updateUnsafe(Date.now() / 1000, empty)
}
