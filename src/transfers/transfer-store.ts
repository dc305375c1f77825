import { Context, Effect, Layer } from "effect"
import type { InvalidRequest, Unavailable } from "../../schema/errors.ts"
import { arrayList, type CountedPage, type Page, type PageRequest, pagedList } from "../../schema/paging.ts"
import { type DisplayTransferRequest, TransferStatus } from "../../schema/transfers/transfer.ts"
import type { TransferContext } from "../../schema/transfers/transfer-snapshot.ts"
import type { Client } from "../postgres/client.ts"
import { makePages } from "../postgres/pages.ts"
import { Sql } from "../postgres/sql.ts"
import { entityItem, isKind, statusRanges } from "../turns/entity-pages.ts"

interface TransferRow {
  readonly status: TransferStatus
  readonly context: TransferContext
}

export const transferList = pagedList("transfers", {
  created_at: ["time", "uuid"],
  accepted_at: ["text?", "uuid"],
  eid: ["text", "uuid"],
})
type TransferSort = keyof typeof transferList.sorts

/** The list of received transfers, newest first. */
export const incomingList = arrayList("incoming_transfers", "Desc", ["time", "uuid"], 1000)

const newest: PageRequest = { dir: "Desc", limit: incomingList.most, page: 0, sort: "only" }
const maxPendingIds = 5000
const active = ["AwaitingSender", "AwaitingReceiver"]

/**
 * When a transfer was accepted, as ISO 8601 in UTC with milliseconds. So the order of the texts is the order of the
 * times. The index has this expression.
 */
const acceptedAt = (q: Client) => q`(state->'context'->>'acceptedAt') collate "C"`

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
     * Lists transfers in every state that the user sent. If `userId` is undefined, it lists those of all users.
     */
    listOutgoing(
      userId: string | undefined,
      page: PageRequest<TransferSort>,
    ): Effect.Effect<CountedPage<DisplayTransferRequest>, Unavailable>
    /**
     * Lists the transfers that were accepted after a time. Fails if there are too many to sort them, unless they are
     * sorted by `accepted_at`.
     */
    listAccepted(
      after: string,
      userId: string | undefined,
      page: PageRequest<TransferSort>,
    ): Effect.Effect<CountedPage<DisplayTransferRequest>, InvalidRequest | Unavailable>
    /**
     * Lists transfers to the user, newest first. `accepted` selects accepted transfers, otherwise active ones. It does
     * not contain transfers to an address that the user has not confirmed.
     */
    listIncoming(
      userId: string,
      accepted: boolean,
      page?: PageRequest,
    ): Effect.Effect<Page<DisplayTransferRequest>, Unavailable>
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
      const pages = yield* makePages
      const display = <Found extends Page<TransferRow>>(found: Found) => ({
        ...found,
        rows: found.rows.map(displayTransfer),
      })
      const keysOf = (q: Client, sort: TransferSort) => [
        { created_at: q`created_at`, accepted_at: acceptedAt(q), eid: q`subject` }[sort],
        q`id`,
      ]
      const isSentBy = (q: Client, userId: string | undefined) =>
        userId === undefined ? q`true` : q`owner_id = ${userId}`
      const listOf = (
        party: "owner_id" | "peer_id",
        userId: string,
        statuses: ReadonlyArray<string>,
        page: PageRequest,
      ) =>
        Effect.map(
          pages.read<TransferRow>(page, incomingList.sorts.only, (q) => ({
            ranges: statusRanges(
              q,
              "transfer",
              statuses,
              party === "owner_id"
                ? q`owner_id = ${userId}`
                : q`peer_id = ${userId} and recipient_sees(entity)`,
            ),
            keys: [q`created_at`, q`id`],
            item: entityItem(q, "transfer", q`p.k1`),
          })),
          display,
        )

      return TransferLists.of({
        listOutgoing: (userId, page) =>
          Effect.map(
            pages.readCounted<TransferRow>(
              page,
              transferList.sorts[page.sort],
              ["transfers", userId],
              (q) => ({
                ranges:
                  userId !== undefined && page.sort === "created_at"
                    ? statusRanges(q, "transfer", TransferStatus.literals, isSentBy(q, userId))
                    : [q`entity where ${isKind(q, "transfer")} and ${isSentBy(q, userId)}`],
                keys: keysOf(q, page.sort),
                ...(page.sort === "accepted_at" ? { countedBy: [q`subject`, q`id`] } : {}),
                item: entityItem(q, "transfer", q`p.k1`),
              }),
            ),
            display,
          ),
        listAccepted: (after, userId, page) => {
          const isAccepted = (q: Client) =>
            q`${isKind(q, "transfer")} and ${isSentBy(q, userId)} and ${acceptedAt(q)} > ${after}::text`
          const types = transferList.sorts[page.sort]
          const found =
            page.sort === "accepted_at"
              ? pages.readCounted<TransferRow>(
                  page,
                  ["text", "uuid"],
                  ["accepted transfers", userId, after],
                  (q) => ({
                    ranges: [q`entity where ${isAccepted(q)}`],
                    keys: keysOf(q, page.sort),
                    item: entityItem(q, "transfer", q`p.k1`),
                  }),
                )
              : pages.readFound<TransferRow>(
                  page,
                  types,
                  "query: accepted_after: more than 10,000 transfers were accepted since then. Send sort=accepted_at, or a later time.",
                  (q) => ({
                    matching: q`select id, created_at, subject from entity where ${isAccepted(q)} order by ${acceptedAt(q)} desc`,
                    keys: keysOf(q, page.sort),
                    item: entityItem(q, "transfer", q`p.k1`),
                  }),
                )
          return Effect.map(found, display)
        },
        listIncoming: (userId, accepted, page = newest) =>
          listOf("peer_id", userId, accepted ? ["Accepted"] : active, page),
        listOpen: (userId) => Effect.map(listOf("owner_id", userId, active, newest), ({ rows }) => rows),
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
