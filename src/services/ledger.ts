import { Effect, Layer } from "effect"
import { Metrics } from "../metrics.ts"
import { Sql } from "../store/sql.ts"

const everyMs = 15_000
/** Few enough that a part of the audit holds nobody up, enough to get through a million orders in two hours. */
const ordersPerPart = 2000

interface Part {
  readonly cents: number
  readonly until: string | null
}

/**
 * Audits the books against the orders for whoever reads the metrics: a part of them now and then, from the first to the
 * last and then again. What is wrong shows at once, and until a whole audit found nothing.
 */
export const ledgerAudit = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* Sql
    const metrics = yield* Metrics
    let nextAt = Number.NEGATIVE_INFINITY
    /** The audit under way. */
    let audit: { readonly begunAt: number; after: string | null; cents: number } | undefined
    let last = { begunAt: performance.now(), cents: 0 }

    const auditPart = Effect.gen(function* () {
      audit ??= { begunAt: performance.now(), after: null, cents: 0 }
      const { after } = audit
      const [part] = yield* sql.rows<Part>(
        (q) => q`select cents, until from ledger_audit(${after}::uuid, ${ordersPerPart})`,
      )
      audit.cents += part?.cents ?? 0
      audit.after = part?.until ?? null
      if (audit.after !== null) return
      last = audit
      audit = undefined
    })

    metrics.before(
      Effect.suspend(() => {
        const now = performance.now()
        if (now < nextAt) return Effect.void
        nextAt = now + everyMs
        return Effect.ignore(auditPart)
      }),
    )
    metrics.gauge(
      "ledger_imbalance_cents",
      "What the ledger and the orders disagree about; anything but zero is an error",
      () => Math.max(last.cents, audit?.cents ?? 0),
    )
    metrics.gauge(
      "ledger_audit_age_seconds",
      "How long ago the last whole audit of the ledger began; it takes longer with more orders, and goes on with each scrape",
      () => (performance.now() - last.begunAt) / 1000,
    )
  }),
)
