import { Effect } from "effect"
import { Sql } from "../postgres/sql.ts"

interface AuditProgress {
  readonly cents: number
  /** Null until the first complete audit has finished. */
  readonly age_seconds: number | null
}
interface HeldMoney {
  readonly orders: number
  readonly cents: number
}

/**
 * Reads the ledger (table `journal`): continues its audit, finds payments, and sums money held by cancelled orders.
 */
export const makeLedgerStore = Effect.map(Sql, (sql) => ({
  /**
   * Audits the next `maxOrders` orders. Does nothing if any process ran the audit within the last `pauseSeconds`.
   * Returns the sum of the differences in cents and the age of the last complete audit.
   */
  continueAudit: (maxOrders: number, pauseSeconds: number) =>
    sql
      .rows<AuditProgress>(
        (q) => q`select cents, age_seconds
                   from continue_audit(${maxOrders}, make_interval(secs => ${pauseSeconds}))`,
      )
      .pipe(Effect.map(([progress]) => progress)),
  countCancelledWithMoney: () =>
    sql
      .rows<HeldMoney>(
        (q) => q`select count(*) as orders, coalesce(sum(h.cents), 0)::bigint as cents from money_held() h
                   join entity e on e.kind = 'order' and e.id = h.order_id and e.status = 'Cancelled'`,
      )
      .pipe(Effect.map(([held]) => held)),
  findOrderOfPayment: (fact: string) =>
    sql
      .rows<{ order_id: string }>((q) => q`select order_id from journal where reference = ${fact}`)
      .pipe(Effect.map((rows) => rows[0]?.order_id)),
}))
