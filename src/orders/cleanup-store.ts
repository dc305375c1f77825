import { Effect } from "effect"
import { orderFormat } from "../../actors/order.ts"
import { begun } from "../../machines/orders/changes.ts"
import type { Intent } from "../../machines/orders/context.ts"
import { isoTime } from "../../schema/iso-time.ts"
import type { ExpiredRows } from "../postgres/prune.ts"
import { Sql } from "../postgres/sql.ts"

/** A cancelled order that is old enough to be purged. It is purged only if it still has this version. */
export interface OldOrder {
  readonly id: string
  readonly version: number
  readonly intent: Intent | null
}
interface Part {
  /** Null if this was the last part of a round over all orders. */
  readonly until: string | null
  readonly old: ReadonlyArray<OldOrder>
}
interface PurgedOrder {
  readonly user_id: string
  readonly created_at: string
  readonly cancelled_at: string
}

/** Most orders of a round are the same as in the round before, so a round need not begin often. */
const pauseHours = 6

export interface CleanupLimits {
  readonly maxOrders: number
  readonly keepTrackingDays: number
  readonly keepOrderDays: number
}

/** Finds old cancelled orders, purges them, and restores a purged order for which a payment arrives. */
export const makeCleanupStore = Effect.map(Sql, (sql) => {
  const find = (id: string) =>
    sql
      .rows<PurgedOrder>(
        (q) => q`select user_id, created_at, cancelled_at from purged_order where id = ${id}`,
      )
      .pipe(Effect.map((rows) => rows[0]))
  return {
    /** Undefined if another process is searching at the moment, or if the last round began a short time ago. */
    nextPart: ({ keepOrderDays, keepTrackingDays, maxOrders }: CleanupLimits) =>
      sql
        .rows<Part>(
          (
            q,
          ) => q`select until, old from continue_order_cleanup(${maxOrders}, make_interval(hours => ${pauseHours}),
                     make_interval(days => ${keepTrackingDays}), make_interval(days => ${keepOrderDays}))`,
        )
        .pipe(Effect.map(([part]) => part)),
    /** Deletes these orders, except those that have changed since they were read. */
    purge: (orders: ReadonlyArray<OldOrder>) => {
      const wanted = JSON.stringify(orders.map(({ id, version }) => ({ id, version })))
      return sql
        .rows<{ purged: number }>((q) => q`select purge_orders(${wanted}::text::jsonb) as purged`)
        .pipe(Effect.map(([row]) => row?.purged ?? 0))
    },
    isPurged: (id: string) => Effect.map(find(id), (found) => found !== undefined),
    /**
     * Restores a purged order as a cancelled order without items. Returns false if no order with this id was purged. Two
     * concurrent calls restore it once.
     */
    restore: Effect.fnUntraced(function* (id: string) {
      const purged = yield* find(id)
      if (purged === undefined) return false
      const at = isoTime(Date.parse(purged.cancelled_at))
      const createdAt = isoTime(Date.parse(purged.created_at))
      const context = {
        ...begun({ id, userId: purged.user_id, createdAt }),
        updatedAt: at,
        cancelled: { at, reason: "deleted" },
      }
      const state = JSON.stringify({ value: "Cancelled", context, format: orderFormat })
      yield* sql.rows(
        (q) => q`with purged as (delete from purged_order where id = ${id} returning *)
                 insert into entity (kind, id, version, turn, status, state, owner_id, created_at)
                 select 'order', id, 1, gen_random_uuid(), 'Cancelled', ${state}::text::jsonb, user_id, created_at from purged
                 on conflict (kind, id) do nothing`,
      )
      return true
    }),
  }
})

/** A payment for a cancelled order does not arrive after years. Then the service forgets that the order existed. */
export const forgottenOrders = (keptDays: number): ExpiredRows => ({
  table: "purged_order",
  time: (q) => q`purged_at`,
  isExpired: (q) => q`purged_at < now() - make_interval(days => ${keptDays})`,
})
