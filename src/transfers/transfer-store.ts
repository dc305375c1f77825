import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { PageRequest, Piece } from "../../schema/paging.ts"
import type { DisplayTransferRequest, TransferStatus } from "../../schema/transfers/transfer.ts"
import type { TransferContext } from "../../schema/transfers/transfer-snapshot.ts"
import { Sql } from "../postgres/sql.ts"
import { pageOfEntities } from "../turns/entity-pages.ts"

interface TransferRow {
  readonly status: TransferStatus
  readonly context: TransferContext
}

export const transferSorts = ["created_at", "accepted_at", "eid"] as const
export interface TransferPage extends PageRequest {
  readonly sort: (typeof transferSorts)[number]
}

export const maxTransfersListed = 1000
const firstPage: Piece = { limit: maxTransfersListed, offset: 0 }
const maxPendingIds = 5000
const active = ["AwaitingSender", "AwaitingReceiver"]

export const displayTransfer = ({ context, status }: TransferRow): DisplayTransferRequest => ({
  id: context.id,
  eid: context.eid,
  email: context.recipient.email,
  recipient_id: context.recipient.id,
  clear_on_transfer: context.clearOnTransfer,
  created_at: context.createdAt,
  status,
  sender_id: context.sender.id,
  expires_at: context.expiresAt,
  ...(context.acceptedAt === null ? {} : { accepted_at: context.acceptedAt }),
  ...(context.deletedAt === null ? {} : { deleted_at: context.deletedAt }),
  ...(context.senderAcceptedAt === null ? {} : { sender_code_accepted_at: context.senderAcceptedAt }),
  ...(context.message === null ? {} : { message: context.message }),
  ...(context.sender.email === null ? {} : { sender_email: context.sender.email }),
})

/** Reads lists of transfers. */
export class TransferLists extends Context.Service<
  TransferLists,
  {
    /**
     * Lists transfers in every state that the user sent. If `userId` is undefined, it lists those of all users. With
     * `acceptedAfter` it lists only transfers that were accepted after that time.
     */
    listOutgoing(
      userId: string | undefined,
      page: TransferPage,
      acceptedAfter?: string,
    ): Effect.Effect<
      { readonly data: ReadonlyArray<DisplayTransferRequest>; readonly total: number },
      Unavailable
    >
    /**
     * Lists transfers to the user, newest first. `accepted` selects accepted transfers, otherwise active ones. It does
     * not contain transfers to an address that the user has not confirmed.
     */
    listIncoming(
      userId: string,
      accepted: boolean,
      piece?: Piece,
    ): Effect.Effect<ReadonlyArray<DisplayTransferRequest>, Unavailable>
    /** Lists the active transfers that the user sent, newest first. */
    listOpen(userId: string): Effect.Effect<ReadonlyArray<DisplayTransferRequest>, Unavailable>
    /** The canonical ids that the user's active sent transfers contain, oldest transfer first, at most 5000. */
    pendingIdsOf(userId: string): Effect.Effect<ReadonlyArray<string>, Unavailable>
  }
>()("directory/TransferLists") {
  static readonly layer = Layer.effect(
    TransferLists,
    Effect.gen(function* () {
      const sql = yield* Sql
      const listOf = (
        party: "owner_id" | "peer_id",
        userId: string,
        statuses: ReadonlyArray<string>,
        { limit, offset }: Piece,
      ) =>
        sql
          .rows<TransferRow>(
            (q) => q`select status, state->'context' as context from entity
                      where kind = 'transfer' and ${q(party)} = ${userId} and status = any(${[...statuses]})
                        and (${party === "owner_id"} or recipient_sees(entity))
                      order by created_at desc, id limit ${limit} offset ${offset}`,
          )
          .pipe(Effect.map((rows) => rows.map(displayTransfer)))

      return TransferLists.of({
        listOutgoing: (userId, page, acceptedAfter) =>
          pageOfEntities<TransferRow>(sql, "transfer", page, (q) => {
            const acceptedAt = q`(state->'context'->>'acceptedAt')::timestamptz`
            return {
              wanted: [
                ...(userId === undefined ? [] : [q`owner_id = ${userId}`]),
                ...(acceptedAfter === undefined ? [] : [q`${acceptedAt} > ${acceptedAfter}::timestamptz`]),
              ],
              sortedBy: { created_at: q`created_at`, accepted_at: acceptedAt, eid: q`subject` }[page.sort],
              isOptional: page.sort === "accepted_at",
            }
          }).pipe(Effect.map(({ rows, total }) => ({ data: rows.map(displayTransfer), total }))),
        listIncoming: (userId, accepted, piece = firstPage) =>
          listOf("peer_id", userId, accepted ? ["Accepted"] : active, piece),
        listOpen: (userId) => listOf("owner_id", userId, active, firstPage),
        pendingIdsOf: (userId) =>
          sql
            .rows<{ subject: string }>(
              (q) => q`select subject from entity
                        where kind = 'transfer' and owner_id = ${userId} and status = any(${active})
                        order by created_at, id limit ${maxPendingIds}`,
            )
            .pipe(Effect.map((rows) => rows.map(({ subject }) => subject))),
      })
    }),
  )
}
