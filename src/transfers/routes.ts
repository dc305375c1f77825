import { Effect, Schema } from "effect"
import {
  Conflict,
  EventRefused,
  Forbidden,
  NotFound,
  TwoFactorRequired,
  Unprocessable,
} from "../../schema/errors.ts"
import { paged, pageQuery, pageRequest, pieceOf, pieceQuery } from "../../schema/paging.ts"
import {
  AcceptTransfer,
  DisplayTransferRequest,
  ListOfDisplayTransferRequest,
  ResentCode,
  TransferRequest,
} from "../../schema/transfers/transfer.ts"
import { BooleanText, DateTimeIn, Uuid } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import { TransferAcceptance } from "./accept-transfer.ts"
import { TransferRequests } from "./request-transfer.ts"
import { maxTransfersListed, TransferLists, transferSorts } from "./transfer-store.ts"

const shared = { group: "transfers", auth: "JWT", scope: "emoji::transfer" } as const
const params = { transfer_id: Uuid }

const request = route({
  ...shared,
  id: "requestTransfer",
  summary: "Begin to transfer an id to an email address or a pubkey; not while its owner may mint it",
  method: "post",
  path: "/transfers",
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
  summary: "List the transfers the current or, for administrators, a given user or anybody sent",
  method: "get",
  path: "/transfers",
  query: {
    ...pageQuery,
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
          error: "The transfers of others need the scope adminEmoji:transfer.",
          details: { scope: "adminEmoji:transfer" },
        })
      }
      const page = pageRequest(query, transferSorts)
      const { data, total } = yield* TransferLists.use((lists) =>
        lists.listOutgoing(senderId, page, query.accepted_after),
      )
      return paged(data, page, total)
    }),
})

const listIncoming = route({
  ...shared,
  id: "listIncoming",
  summary: "List the transfers that wait for the current user, or that they accepted, a thousand to a page",
  method: "get",
  path: "/transfers/incoming",
  query: { ...pieceQuery(maxTransfersListed), accepted: Schema.optionalKey(BooleanText) },
  success: Schema.Array(DisplayTransferRequest),
  errors: [],
  handler: ({ principal, query }) =>
    TransferLists.use((lists) =>
      lists.listIncoming(principal.userId, query.accepted === "true", pieceOf(query, maxTransfersListed)),
    ),
})

const remove = route({
  ...shared,
  id: "deleteTransfer",
  summary: "Mark a transfer deleted",
  method: "del",
  path: "/transfers/:transfer_id",
  params,
  success: DisplayTransferRequest,
  errors: [Conflict, EventRefused, NotFound],
  handler: ({ params: { transfer_id }, principal }) =>
    TransferAcceptance.use((acceptance) => acceptance.remove(principal, transfer_id.toLowerCase())),
})

const senderAccept = route({
  ...shared,
  id: "senderAcceptTransfer",
  summary: "The sender confirms with the code mailed to them",
  method: "post",
  path: "/transfers/:transfer_id/sender_accept",
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
  summary: "The receiver accepts with the code mailed to them; the id moves",
  method: "post",
  path: "/transfers/:transfer_id/receiver_accept",
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
  summary: "Send a new code to the sender, or to the receiver once the sender has confirmed",
  method: "post",
  path: "/transfers/:transfer_id/resend_code",
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
