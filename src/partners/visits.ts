import { Context, Effect, Layer } from "effect"
import type { DirectoryRecord } from "../../schema/directory/record.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { OneTimeCodes } from "../accounts/sessions/one-time-codes.ts"
import { Seal } from "../crypto/envelope-encryption.ts"
import { makeVisitStore, type PartnerFlow, type VisitRow } from "./visit-store.ts"

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
      const visits = yield* makeVisitStore
      const seal = yield* Seal
      const codes = yield* OneTimeCodes
      const hashes = (token: string) => codes.lookupHashes({ purpose: "partner-visit" }, token)

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
          yield* visits.add({
            tokenHash: codes.hash({ purpose: "partner-visit" }, token),
            organizationId,
            flow,
            userId: login?.userId ?? null,
            sessionId: login?.sessionId ?? null,
            sealedState: yield* seal.seal(Buffer.from(JSON.stringify(state)), aad(organizationId)),
            seconds: visitSeconds,
          })
          return token
        }),
        find: Effect.fnUntraced(function* (token, organizationId, flow) {
          const row = yield* visits.find(hashes(token), organizationId, flow)
          return row === undefined ? undefined : yield* open(row)
        }),
        ordered: (token, orderId) => visits.setOrder(hashes(token), orderId),
        awaiting: Effect.fnUntraced(function* (orderId, organizationId) {
          const rows = yield* visits.listByOrder(orderId, organizationId)
          const opened = yield* Effect.forEach(rows, open)
          return opened.flatMap((visit) => visit?.addresses ?? [])
        }),
        written: visits.markWritten,
        unwritten: Effect.gen(function* () {
          const rows = yield* visits.listUnwritten
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
