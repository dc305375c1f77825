import type { Registry } from "./registry.ts"

interface Pruned {
  readonly deleted: number
  /** Undefined for a table without times. */
  readonly oldestSeconds?: number
}

/** Returns a function that records a completed run over a table. */
export const makeRecordPruned =
  (metrics: Registry) =>
  (table: string, { deleted, oldestSeconds }: Pruned): void => {
    const labels = { table }
    const at = Date.now() / 1000
    metrics
      .counter("pruned_rows_total", "Rows that were deleted because their retention has ended", { labels })
      .add(deleted)
    metrics.gauge(
      "pruned_oldest_row_seconds",
      "Age of the oldest row after the last run",
      () => oldestSeconds,
      {
        labels,
        across: "max",
      },
    )
    metrics.gauge("pruned_last_run_timestamp_seconds", "When the last run ended, as a Unix time", () => at, {
      labels,
      across: "max",
    })
  }
