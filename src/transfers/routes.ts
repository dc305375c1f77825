import { Effect, Schema } from "effect"
import {
  Conflict,
  EventRefused,
  Forbidden,
  NotFound,
  TwoFactorRequired,
  Unprocessable,
} from "../../schema/errors.ts"
import { arrayQuery, paged, pageQuery, pageRequest } from "../../schema/paging.ts"
import {
  AcceptTransfer,
  DisplayTransferRequest,
  ListOfDisplayTransferRequest,
  ResentCode,
  TransferRequest,
} from "../../schema/transfers/transfer.ts"
import { BooleanText, DateTimeIn, Uuid } from "../../schema/wire-format.ts"
import { Parties } from "../accounts/party-store.ts"
import { linked } from "../http/response/page-links.ts"
import { route } from "../http/route.ts"
import { TransferAcceptance } from "./accept-transfer.ts"
import { unconfirmed } from "./refusals.ts"
import { TransferRequests } from "./request-transfer.ts"
import { incomingList, TransferLists, transferList } from "./transfer-store.ts"

const shared = { group: "transfers", auth: "JWT", scope: "emoji::transfer" } as const
const params = { transfer_id: Uuid }

const request = route({
  ...shared,
  id: "requestTransfer",
  summary: "Transfer an id to an email address or a pubkey",
  description:
    "Creates a transfer and mails a code to the sender. An unknown email gets an invited account. The id cannot be sold or transferred again while the transfer is active, and a transfer that is not accepted expires after seven days. `force_transfer` is for administrators and skips the sender's code. An id that is minted, can be minted with a valid signature, or was transferred in the last 24 hours is 409.",
  method: "post",
  path: "/transfers",
  access: { own: true, others: "adminEmoji:transfer" },
  sensitive: true,
  limit: "mail",
  body: TransferRequest,
  success: DisplayTransferRequest,
  errors: [Conflict, NotFound, Unprocessable, TwoFactorRequired],
  handler: ({ body, principal }) => TransferRequests.use((transfers) => transfers.create(principal, body)),
})

const listOutgoing = route({
  ...shared,
  id: "listFiltered",
  summary: "List sent transfers",
  description:
    "Returns your own transfers; administrators can list those of other users with `sender_id`, or `all`. With `accepted_after` they are sorted by `accepted_at` unless `sort` is sent.",
  method: "get",
  path: "/transfers",
  access: { own: true, others: "adminEmoji:transfer" },
  query: {
    ...pageQuery(transferList),
    accepted_after: Schema.optionalKey(DateTimeIn),
    sender_id: Schema.optionalKey(Uuid),
    all: Schema.optionalKey(BooleanText),
  },
  success: ListOfDisplayTransferRequest,
  errors: [],
  handler: ({ principal, query }) =>
    Effect.gen(function* () {
      const senderId = query.all === "true" ? undefined : (query.sender_id?.toLowerCase() ?? principal.userId)
      if (senderId !== principal.userId && !principal.scopes.has("adminEmoji:transfer")) {
        return yield* new Forbidden({
          error: "To list the transfers of other users you need the scope adminEmoji:transfer.",
          details: { scope: "adminEmoji:transfer" },
        })
      }
      const { accepted_after } = query
      // Accepted transfers have an index by the time of their acceptance, so this is their default order.
      const page = yield* pageRequest(
        transferList,
        query,
        accepted_after === undefined ? "created_at" : "accepted_at",
      )
      const found = yield* TransferLists.use((lists) =>
        accepted_after === undefined
          ? lists.listOutgoing(senderId, page)
          : lists.listAccepted(accepted_after, senderId, page),
      )
      return paged(transferList, page, found, found.rows)
    }),
})

const listIncoming = route({
  ...shared,
  id: "listIncoming",
  summary: "List received transfers",
  description:
    "`accepted=false`, the default, lists transfers that you can accept; `accepted=true` those that you have accepted. 403 with `email_unconfirmed` until you have confirmed the email address.",
  method: "get",
  path: "/transfers/incoming",
  query: { ...arrayQuery(incomingList), accepted: Schema.optionalKey(BooleanText) },
  success: Schema.Array(DisplayTransferRequest),
  errors: [],
  handler: ({ path, principal, query, search }) =>
    Effect.gen(function* () {
      if (yield* Parties.use((parties) => parties.needsConfirmation(principal.userId))) {
        return yield* unconfirmed("Your email address is not confirmed.")
      }
      const page = yield* pageRequest(incomingList, query)
      const found = yield* TransferLists.use((lists) =>
        lists.listIncoming(principal.userId, query.accepted === "true", page),
      )
      return linked(incomingList, page, found, found.rows, { path, search })
    }),
})

const remove = route({
  ...shared,
  id: "deleteTransfer",
  summary: "Delete a transfer that is not accepted yet",
  description:
    "The sender or the receiver ends a transfer before it is accepted. The id stays with its owner. An accepted or expired transfer is 409.",
  method: "del",
  path: "/transfers/:transfer_id",
  access: { own: true, others: "adminEmoji:transfer" },
  params,
  success: DisplayTransferRequest,
  errors: [Conflict, EventRefused, NotFound],
  handler: ({ params: { transfer_id }, principal }) =>
    TransferAcceptance.use((acceptance) => acceptance.remove(principal, transfer_id.toLowerCase())),
})

const senderAccept = route({
  ...shared,
  id: "senderAcceptTransfer",
  summary: "Confirm a transfer as its sender",
  description:
    "Send the code from the sender's mail. The receiver then gets a mail with another code. A code is valid for ten minutes and five attempts; a wrong one is 422. After 10 wrong codes per id or 20 per user within 24 hours the answer is 429.",
  method: "post",
  path: "/transfers/:transfer_id/sender_accept",
  access: { own: true },
  sensitive: true,
  limit: "code",
  params,
  body: AcceptTransfer,
  success: DisplayTransferRequest,
  errors: [Conflict, EventRefused, NotFound, Unprocessable, TwoFactorRequired],
  handler: ({ body, params: { transfer_id }, principal }) =>
    TransferAcceptance.use((acceptance) =>
      acceptance.senderAccept(principal, transfer_id.toLowerCase(), body.code),
    ),
})

const receiverAccept = route({
  ...shared,
  id: "receiverAcceptTransfer",
  summary: "Accept a transfer as its receiver",
  description:
    "Send the code from the receiver's mail. The id moves to the receiver at once, its records are deleted if the sender asked for it, and the answer contains the received ids. After 10 wrong codes per id or 20 per user within 24 hours the answer is 429.",
  method: "post",
  path: "/transfers/:transfer_id/receiver_accept",
  access: { own: true },
  sensitive: true,
  limit: "code",
  params,
  body: AcceptTransfer,
  success: Schema.Array(Schema.String),
  errors: [Conflict, EventRefused, NotFound, Unprocessable, TwoFactorRequired],
  handler: ({ body, params: { transfer_id }, principal }) =>
    TransferAcceptance.use((acceptance) =>
      acceptance.receiverAccept(principal, transfer_id.toLowerCase(), body.code),
    ),
})

const resendCode = route({
  ...shared,
  id: "resendCode",
  summary: "Mail a new code to the party that has to confirm",
  description:
    "Before the sender has confirmed, the sender gets the code; afterwards the receiver. At most one code per minute is sent.",
  method: "post",
  path: "/transfers/:transfer_id/resend_code",
  access: { own: true, others: "adminEmoji:transfer" },
  limit: "mail",
  params,
  success: ResentCode,
  errors: [Conflict, EventRefused, NotFound, Unprocessable],
  handler: ({ params: { transfer_id }, principal }) =>
    TransferAcceptance.use((acceptance) => acceptance.resend(principal, transfer_id.toLowerCase())),
})

export const transfers = [
  request,
  listOutgoing,
  listIncoming,
  remove,
  senderAccept,
  receiverAccept,
  resendCode,
] as const
