import { Effect } from "effect"
import type { ExpiredRows } from "../postgres/prune.ts"
import { Sql } from "../postgres/sql.ts"

/**
 * The three partner flows: `get` to buy an id, `connect` to connect an id that the user owns, `manage` to edit
 * records.
 */
export type PartnerFlow = "get" | "connect" | "manage"

export interface VisitRow {
  readonly token_hash: string
  readonly organization_id: string
  readonly user_id: string | null
  readonly session_id: string | null
  readonly sealed_state: string
  readonly order_id: string | null
}

interface NewVisit {
  readonly tokenHash: string
  readonly organizationId: string
  readonly flow: PartnerFlow
  readonly userId: string | null
  readonly sessionId: string | null
  readonly sealedState: string
  readonly seconds: number
}

/**
 * Stores visits by the hash of the token in the browser's cookie. Functions that find a visit get several hashes,
 * because a token has one hash for each secret key.
 */
export const makeVisitStore = Sql.useSync((sql) => ({
  add: (visit: NewVisit) =>
    sql
      .rows(
        (
          q,
        ) => q`insert into partner_visit (token_hash, organization_id, flow, user_id, session_id, sealed_state, expires_at)
                 values (${visit.tokenHash}, ${visit.organizationId}, ${visit.flow},
                         ${visit.userId}, ${visit.sessionId}, ${visit.sealedState},
                         now() + make_interval(secs => ${visit.seconds}))
                 on conflict do nothing`,
      )
      .pipe(Effect.asVoid),
  find: (tokenHashes: ReadonlyArray<string>, organizationId: string, flow: PartnerFlow) =>
    sql
      .rows<VisitRow>(
        (q) => q`select * from partner_visit
                  where token_hash = any(${tokenHashes as string[]}) and organization_id = ${organizationId} and flow = ${flow}
                    and expires_at > now()`,
      )
      .pipe(Effect.map((rows) => rows[0])),
  // Links the visit to an order. If the visit was linked to another order, that order may still be paid, so a copy of
  // the visit keeps the addresses for it.
  setOrder: (tokenHashes: ReadonlyArray<string>, orderId: string) =>
    sql
      .rows(
        (q) => q`with visit as (
                   select * from partner_visit where token_hash = any(${tokenHashes as string[]}) and flow = 'get'
                 ), noted as (
                   update partner_visit set order_id = ${orderId}, written_at = null
                    where token_hash in (select token_hash from visit where order_id is distinct from ${orderId}::uuid)
                 )
                 insert into partner_visit (token_hash, organization_id, flow, user_id, session_id, sealed_state,
                                            order_id, created_at, expires_at)
                 select token_hash || '/' || order_id, organization_id, flow, user_id, session_id, sealed_state,
                        order_id, created_at, expires_at
                   from visit where order_id <> ${orderId} and written_at is null
                 on conflict do nothing`,
      )
      .pipe(Effect.asVoid),
  /** The visits of an order whose addresses are not written yet. */
  listByOrder: (orderId: string, organizationId: string) =>
    sql.rows<VisitRow>(
      (q) => q`select * from partner_visit
                where order_id = ${orderId} and organization_id = ${organizationId} and written_at is null
                order by created_at`,
    ),
  markWritten: (orderId: string) =>
    sql
      .rows(
        (q) => q`update partner_visit set written_at = now()
                  where order_id = ${orderId} and written_at is null`,
      )
      .pipe(Effect.asVoid),
  /**
   * Up to 20 random visits whose order is paid and has not changed for 20 seconds, and whose addresses are not yet
   * written to the ids of the order.
   */
  listUnwritten: sql.rows<VisitRow & { readonly owner_id: string }>(
    // `offset 0` prevents the planner from merging the subqueries. A merged query would read all orders, or all
    // visits, although most visits have no order.
    (q) => q`select v.*, e.owner_id
               from (select * from partner_visit where order_id is not null and written_at is null offset 0) v
              cross join lateral (select * from entity where kind = 'order' and id = v.order_id offset 0) e
              where e.status = 'Paid' and e.updated_at < now() - interval '20 seconds'
              order by random() limit 20`,
  ),
}))

export const expiredVisits = (keptHours: number): ExpiredRows => ({
  table: "partner_visit",
  time: (q) => q`expires_at`,
  isExpired: (q) => q`expires_at < now() - make_interval(hours => ${keptHours})`,
})
