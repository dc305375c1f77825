import { Context, Effect, Layer } from "effect"
import type { DirectoryRecord } from "../../schema/directory/records/record.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { OneTimeCodes } from "../accounts/sessions/one-time-codes.ts"
import { Seal } from "../crypto/envelope-encryption.ts"
import { makeVisitStore, type PartnerFlow, type VisitRow } from "./visit-store.ts"

/** The parameters that a partner sent. They are stored encrypted until the visit expires. */
export interface VisitState {
  /** The refresh token of the partner's user. It is returned to the partner unchanged. */
  readonly refreshToken?: string
  readonly addresses: ReadonlyArray<DirectoryRecord>
  readonly eid?: string
  /** Why the refresh token cannot be used: it is not valid any more, or its login waits for a two-factor code. */
  readonly loginProblem?: "ended" | "needs_code"
  /** The partner's own ids for the user. */
  readonly transactionId?: string
  readonly conversionId?: string
}

export interface Visit extends VisitState {
  /** The session of the partner's refresh token. Undefined if the partner sent no token. */
  readonly sessionId: string | undefined
  /** The last order that was checked out in this visit. */
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
    /** Stores a visit and returns the token for the browser's cookie. */
    create(
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
    /** Links an order to the visit. When the order is paid, its ids get the addresses of the visit. */
    linkOrder(token: string, orderId: string): Effect.Effect<void, Unavailable>
    /** The addresses that are not yet written to the ids of an order. Empty after all of them were written. */
    listPendingAddresses(
      orderId: string,
      organizationId: string,
    ): Effect.Effect<ReadonlyArray<DirectoryRecord>, Unavailable>
    markWritten(orderId: string): Effect.Effect<void, Unavailable>
    /**
     * Up to 20 visits whose order was paid some time ago and whose addresses are not written yet, usually because the
     * buyer did not return.
     */
    readonly listUnwritten: Effect.Effect<ReadonlyArray<UnwrittenVisit>, Unavailable>
  }
>()("directory/PartnerVisits") {
  static readonly layer = Layer.effect(
    PartnerVisits,
    Effect.gen(function* () {
      const visits = yield* makeVisitStore
      const seal = yield* Seal
      const codes = yield* OneTimeCodes
      const hashes = (token: string) => codes.lookupHashes({ purpose: "partner-visit" }, token)

      /**
       * Decrypts a visit. If that fails, for example because its secret key is missing, it logs a warning and returns
       * undefined, so that one visit does not block the others.
       */
      const open = (row: VisitRow) =>
        seal.open(row.sealed_state, aad(row.organization_id)).pipe(
          Effect.map((text): Visit | undefined => {
            const state = JSON.parse(text.toString()) as VisitState
            const known = { sessionId: row.session_id ?? undefined, orderId: row.order_id ?? undefined }
            return { ...state, ...known }
          }),
          Effect.catch(({ reason }) =>
            Effect.as(
              Effect.logWarning("decrypting a partner visit failed", { order: row.order_id, reason }),
              undefined,
            ),
          ),
        )

      return PartnerVisits.of({
        create: Effect.fnUntraced(function* (organizationId, flow, state, login) {
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
        linkOrder: (token, orderId) => visits.setOrder(hashes(token), orderId),
        listPendingAddresses: Effect.fnUntraced(function* (orderId, organizationId) {
          const rows = yield* visits.listByOrder(orderId, organizationId)
          const opened = yield* Effect.forEach(rows, open)
          return opened.flatMap((visit) => visit?.addresses ?? [])
        }),
        markWritten: visits.markWritten,
        listUnwritten: Effect.gen(function* () {
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
