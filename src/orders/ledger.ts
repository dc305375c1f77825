import { Effect, Layer } from "effect"
import { Metrics } from "../telemetry/metrics.ts"
import { makeLedgerStore } from "./ledger-store.ts"

const pauseSeconds = 15
/** Few enough that a part of the audit holds nobody up, enough to get through a million orders in two hours. */
const ordersPerPart = 2000

/**
 * Audits the books against the orders for whoever reads the metrics: a part of them now and then, from the first to the
 * last and then again, all processes together. What is wrong shows at once, and until a whole audit found nothing.
 */
export const ledgerAudit = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* makeLedgerStore
    const metrics = yield* Metrics
    let askedAt = Number.NEGATIVE_INFINITY
    let cents = 0
    let lastBegunAt = Number.NEGATIVE_INFINITY

    const audit = Effect.map(store.continueAudit(ordersPerPart, pauseSeconds), (progress) => {
      cents = progress?.cents ?? 0
      lastBegunAt = performance.now() - 1000 * (progress?.age_seconds ?? Number.POSITIVE_INFINITY)
    })

    const held = { orders: 0, cents: 0 }
    const countHeld = Effect.map(store.countCancelledWithMoney(), (found) => Object.assign(held, found))

    metrics.before(
      Effect.suspend(() => {
        const now = performance.now()
        if (now < askedAt + 1000 * pauseSeconds) return Effect.void
        askedAt = now
        return Effect.andThen(Effect.ignore(audit), Effect.ignore(countHeld))
      }),
    )
    metrics.gauge(
      "ledger_imbalance_cents",
      "What the ledger and the orders disagree about; anything but zero is an error",
      () => cents,
    )
    metrics.gauge(
      "orders_cancelled_with_money",
      "Cancelled orders with money that was not given back; GET /orders?all=true&status=Cancelled&holds_money=true lists them",
      () => held.orders,
    )
    metrics.gauge("orders_cancelled_held_cents", "How much money they have", () => held.cents)
    metrics.gauge(
      "ledger_audit_age_seconds",
      "How long ago the last whole audit of the ledger began; it takes longer with more orders, and goes on with each scrape",
      () => (performance.now() - lastBegunAt) / 1000,
    )
  }),
)
