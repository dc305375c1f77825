import { Effect, Layer } from "effect"
import { Metrics } from "../metrics.ts"
import { Sql } from "../store/sql.ts"

const everyMs = 60_000

/** Audits the books against the orders, at most once a minute, for whoever reads the metrics. */
export const ledgerAudit = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* Sql
    const metrics = yield* Metrics
    let imbalance = 0
    let audited = Number.NEGATIVE_INFINITY
    metrics.before(
      Effect.suspend(() => {
        if (performance.now() - audited < everyMs) return Effect.void
        audited = performance.now()
        return sql
          .rows<{ cents: number }>((q) => q`select ledger_audit() as cents`)
          .pipe(
            Effect.tap(([row]) =>
              Effect.sync(() => {
                imbalance = row?.cents ?? 0
              }),
            ),
            Effect.ignore,
          )
      }),
    )
    metrics.gauge(
      "ledger_imbalance_cents",
      "What the ledger and the orders disagree about; anything but zero is an error",
      () => imbalance,
    )
  }),
)
