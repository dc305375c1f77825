import { Context, Effect, Layer } from "effect"
import type { DirectoryRecord } from "../../schema/directory/record.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { OneTimeCodes } from "../accounts/sessions/one-time-codes.ts"
import { Seal } from "../crypto/envelope-encryption.ts"
import { Sql } from "../postgres/sql.ts"

/** get: buy an id. connect: bring one that is owned already. manage: edit records. */
export type PartnerFlow = "get" | "connect" | "manage"

/** What a partner sent along, as long as the person stays. */
interface VisitState {
  /** Given back as it came. */
  readonly refreshToken?: string
  readonly addresses: ReadonlyArray<DirectoryRecord>
  readonly eid?: string
}

export interface Visit extends VisitState {
  /** The login behind the partner's token. */
  readonly sessionId: string | undefined
  /** The order that was last checked out in this visit. */
  readonly orderId: string | undefined
}

export interface UnwrittenVisit extends Visit {
  readonly key: string
  readonly userId: string
  readonly orderId: string
}

export const visitSeconds = 7200
const aad = (organizationId: string) => `partner-visit/${organizationId}`

interface VisitRow {
  readonly token_hash: string
  readonly organization_id: string
  readonly user_id: string | null
  readonly session_id: string | null
  readonly sealed_state: string
  readonly order_id: string | null
}

export class PartnerVisits extends Context.Service<
  PartnerVisits,
  {
    /** Answers the token the browser keeps. */
    admit(
      organizationId: string,
      flow: PartnerFlow,
      state: VisitState,
      login: { readonly userId: string; readonly sessionId: string } | undefined,
    ): Effect.Effect<string, Unavailable>
    find(
      token: string,
      organizationId: string,
      flow: PartnerFlow,
    ): Effect.Effect<Visit | undefined, Unavailable>
    /** The ids of this order are to be given the visit's addresses once it is paid. */
    ordered(token: string, orderId: string): Effect.Effect<void, Unavailable>
    /** What the ids of an order through this partner are still to be given: nothing once it was written. */
    awaiting(
      orderId: string,
      organizationId: string,
    ): Effect.Effect<ReadonlyArray<DirectoryRecord>, Unavailable>
    written(orderId: string): Effect.Effect<void, Unavailable>
    /** Visits whose order is paid and whose addresses are not written, because nobody came back. */
    readonly unwritten: Effect.Effect<ReadonlyArray<UnwrittenVisit>, Unavailable>
  }
>()("directory/PartnerVisits") {
  static readonly layer = Layer.effect(
    PartnerVisits,
    Effect.gen(function* () {
      const sql = yield* Sql
      const seal = yield* Seal
      const codes = yield* OneTimeCodes
      const hashes = (token: string) => codes.lookupHashes({ purpose: "partner-visit" }, token) as string[]

      /** One that cannot be opened, because its key is gone or not here yet, must not hold up the others. */
      const open = (row: VisitRow) =>
        seal.open(row.sealed_state, aad(row.organization_id)).pipe(
          Effect.map((text): Visit | undefined => {
            const state = JSON.parse(text.toString()) as VisitState
            const known = { sessionId: row.session_id ?? undefined, orderId: row.order_id ?? undefined }
            return { ...state, ...known }
          }),
          Effect.catch(({ reason }) =>
            Effect.as(Effect.logWarning("visit not opened", { order: row.order_id, reason }), undefined),
          ),
        )

      return PartnerVisits.of({
        admit: Effect.fnUntraced(function* (organizationId, flow, state, login) {
          const token = yield* codes.makeOpaqueToken
          const sealed = yield* seal.seal(Buffer.from(JSON.stringify(state)), aad(organizationId))
          yield* sql.rows(
            (
              q,
            ) => q`insert into partner_visit (token_hash, organization_id, flow, user_id, session_id, sealed_state, expires_at)
                     values (${codes.hash({ purpose: "partner-visit" }, token)}, ${organizationId}, ${flow},
                             ${login?.userId ?? null}, ${login?.sessionId ?? null}, ${sealed},
                             now() + make_interval(secs => ${visitSeconds}))
                     on conflict do nothing`,
          )
          return token
        }),
        find: Effect.fnUntraced(function* (token, organizationId, flow) {
          const [row] = yield* sql.rows<VisitRow>(
            (q) => q`select * from partner_visit
                      where token_hash = any(${hashes(token)}) and organization_id = ${organizationId} and flow = ${flow}
                        and expires_at > now()`,
          )
          return row === undefined ? undefined : yield* open(row)
        }),
        // An earlier order of the visit may still be paid, so what was agreed for it is kept beside.
        ordered: (token, orderId) =>
          sql
            .rows(
              (q) => q`with visit as (
                         select * from partner_visit where token_hash = any(${hashes(token)}) and flow = 'get'
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
        awaiting: Effect.fnUntraced(function* (orderId, organizationId) {
          const rows = yield* sql.rows<VisitRow>(
            (q) => q`select * from partner_visit
                      where order_id = ${orderId} and organization_id = ${organizationId} and written_at is null
                      order by created_at`,
          )
          const visits = yield* Effect.forEach(rows, open)
          return visits.flatMap((visit) => visit?.addresses ?? [])
        }),
        written: (orderId) =>
          sql
            .rows(
              (q) => q`update partner_visit set written_at = now()
                        where order_id = ${orderId} and written_at is null`,
            )
            .pipe(Effect.asVoid),
        unwritten: Effect.gen(function* () {
          const rows = yield* sql.rows<VisitRow & { owner_id: string }>(
            // Each step fenced off: most visits have no order, and the planner would look at all of them, or at all orders.
            (q) => q`select v.*, e.owner_id
                       from (select * from partner_visit where order_id is not null and written_at is null offset 0) v
                      cross join lateral (select * from entity where kind = 'order' and id = v.order_id offset 0) e
                      where e.status = 'Paid' and e.updated_at < now() - interval '20 seconds'
                      order by random() limit 20`,
          )
          const opened = yield* Effect.forEach(rows, (row) =>
            Effect.map(open(row), (visit) =>
              visit === undefined
                ? undefined
                : { ...visit, key: row.token_hash, userId: row.owner_id, orderId: row.order_id ?? "" },
            ),
          )
          return opened.filter((visit) => visit !== undefined)
        }),
      })
    }),
  )
}
