import { durationBounds, type Registry } from "../telemetry/registry.ts"

const outcomes = ["answered", "rejected", "unavailable", "defect"] as const
type Outcome = (typeof outcomes)[number]

export interface StatementGauges {
  readonly running: () => number
  readonly waiting: () => number
  readonly oldestWaitMs: () => number
  readonly writesFail: () => boolean
}

/** Registers the metrics of the statements of this process. Returns what records a statement. */
export const makeStatementMetrics = (metrics: Registry) => {
  const wait = metrics.histogram(
    "postgres_pool_wait_seconds",
    "How long statements waited for a connection",
    durationBounds,
  )
  const duration = metrics.histogram(
    "postgres_statement_duration_seconds",
    "Time from sending a statement to its result",
    durationBounds,
  )
  const counters = Object.fromEntries(
    outcomes.map((outcome) => [
      outcome,
      metrics.counter(
        "postgres_statements_total",
        "Statements by outcome. rejected: a constraint or a version conflict. unavailable: no connection, a timeout or " +
          "a full disk. defect: a mistake in the program",
        { labels: { outcome } },
      ),
    ]),
  ) as Record<Outcome, ReturnType<Registry["counter"]>>
  return {
    started: (waitedMs: number) => wait.observe(waitedMs / 1000),
    ended: (outcome: Outcome, tookMs: number) => {
      counters[outcome].add()
      duration.observe(tookMs / 1000)
    },
    register: ({ oldestWaitMs, running, waiting, writesFail }: StatementGauges) => {
      metrics.gauge("postgres_statements_running", "Statements sent and not completed", running)
      metrics.gauge("postgres_statements_waiting", "Statements that wait for a free connection", waiting)
      metrics.gauge(
        "postgres_queue_age_seconds",
        "How long the oldest statement without a connection has waited",
        () => oldestWaitMs() / 1000,
        { across: "max" },
      )
      metrics.gauge(
        "postgres_writes_failing",
        "1 if the database rejects writes, for example because its disk is full",
        () => (writesFail() ? 1 : 0),
        { across: "max" },
      )
    },
  }
}
