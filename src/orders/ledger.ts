import { Effect, Layer } from "effect"
import { Metrics } from "../telemetry/metrics.ts"
import { makeLedgerStore } from "./ledger-store.ts"

const pauseSeconds = 15
/**
 * The number of orders that one step of the audit reads. The query stays short, and a million orders are audited in two
 * hours.
 */
const ordersPerPart = 2000

/**
 * Compares the ledger with the orders and publishes the result as metrics. Each scrape of the metrics audits the next
 * orders, and all processes continue the same audit. A difference is visible in the metrics as soon as it is found,
 * and stays visible until a complete audit finds no difference.
 */
export const ledgerAudit = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* makeLedgerStore
    const metrics = yield* Metrics
    let auditedAt = Number.NEGATIVE_INFINITY
    // Undefined until they are read, so that a failed query does not look like a balanced ledger.
    let cents: number | undefined
    let lastBegunAt = Number.NEGATIVE_INFINITY

    const audit = Effect.map(store.continueAudit(ordersPerPart, pauseSeconds), (progress) => {
      cents = progress?.cents ?? 0
      lastBegunAt = performance.now() - 1000 * (progress?.age_seconds ?? Number.POSITIVE_INFINITY)
    })

    const held: { orders?: number; cents?: number } = {}
    const countHeld = Effect.map(store.countCancelledWithMoney(), (found) => Object.assign(held, found))

    const ofDatabase = { across: "database" } as const
    metrics.before(
      Effect.suspend(() => {
        const now = performance.now()
        if (now < auditedAt + 1000 * pauseSeconds) return Effect.void
        auditedAt = now
        return Effect.andThen(Effect.ignore(audit), Effect.ignore(countHeld))
      }),
    )
    metrics.gauge(
      "ledger_imbalance_cents",
      "Difference between the ledger and the orders in cents; any value except zero is an error",
      () => cents,
      ofDatabase,
    )
    metrics.gauge(
      "orders_cancelled_with_money",
      "Cancelled orders with money that was not refunded; GET /orders?all=true&status=Cancelled&holds_money=true lists them",
      () => held.orders,
      ofDatabase,
    )
    metrics.gauge(
      "orders_cancelled_held_cents",
      "Money of cancelled orders that was not refunded, in cents",
      () => held.cents,
      ofDatabase,
    )
    metrics.gauge(
      "ledger_audit_age_seconds",
      "Seconds since the last complete audit of the ledger began; each scrape continues the audit",
      () => (performance.now() - lastBegunAt) / 1000,
      ofDatabase,
    )
  }),
)
