import type { ExpiredNumberedRows, ExpiredRows } from "../../postgres/prune.ts"
import { Sql } from "../../postgres/sql.ts"

/** A sandbox webhook that has not been delivered. */
export interface Webhook {
  readonly id: number
  readonly payload: string
}

const leaseSeconds = 10

export const makeSandboxWebhookStore = Sql.useSync((sql) => ({
  /**
   * Leases webhooks that are due: no other process sends them until the lease ends. Each failed attempt makes the
   * next lease 10 seconds longer, up to 300 seconds.
   */
  take: (limit: number) =>
    sql.rows<Webhook>(
      (q) => q`update sandbox_webhook w
                  set tries = w.tries + 1,
                      due_at = now() + make_interval(secs => ${leaseSeconds} * least(w.tries + 1, 30))
                 from (select id from sandbox_webhook where delivered_at is null and due_at <= now()
                        order by due_at limit ${limit} for update skip locked) d
                where w.id = d.id returning w.id, w.payload`,
    ),
  markDelivered: (ids: ReadonlyArray<number>) =>
    sql.rows(
      (q) => q`update sandbox_webhook set delivered_at = now() where id = any(${ids as number[]}::bigint[])`,
    ),
}))

export const deliveredSandboxWebhooks = (keptDays: number): ExpiredNumberedRows => ({
  table: "sandbox_webhook",
  addedAt: (q) => q`coalesce(delivered_at, now())`,
  isExpired: (q) => q`delivered_at < now() - make_interval(days => ${keptDays})`,
  isRecent: (q) => q`delivered_at >= now() - make_interval(days => ${keptDays})`,
})

/**
 * Payment intents of the sandbox that were cancelled without a payment. The payments of others are needed for refunds.
 * Declined payments are deleted with their intent.
 */
export const unpaidSandboxIntents = (keptDays: number): ExpiredRows => ({
  table: "sandbox_intent",
  time: (q) => q`created_at`,
  among: (q) => q`status = 'cancelled' and paid_cents = 0`,
  isExpired: (q) => q`created_at < now() - make_interval(days => ${keptDays})`,
})
