import { Schema } from "effect"
import { Email } from "../accounts/email.ts"
import { EmojiIdFromString } from "../directory/emoji-id.ts"
import { pageOf } from "../paging.ts"
import { DateTime, optional, text, Uuid } from "../wire-format.ts"

export const TransferStatus = Schema.Literals([
  "AwaitingSender",
  "AwaitingReceiver",
  "Accepted",
  "Deleted",
  "Expired",
])
export type TransferStatus = typeof TransferStatus.Type

export const TransferRequest = Schema.Struct({
  eid: EmojiIdFromString,
  email: optional(Email),
  pubkey: optional(text(128)),
  clear_on_transfer: optional(Schema.Boolean),
  force_transfer: optional(Schema.Boolean),
  message: optional(text(1000)),
}).annotate({ identifier: "TransferRequest" })

export const AcceptTransfer = Schema.Struct({ code: text(32) }).annotate({ identifier: "AcceptTransfer" })

/** A transfer in API responses. It is the same for both parties and contains no codes. */
export const DisplayTransferRequest = Schema.Struct({
  id: Uuid,
  eid: Schema.String,
  /** The recipient's email address. Empty if the sender entered a public key. */
  email: Schema.String,
  recipient_id: Uuid,
  clear_on_transfer: Schema.Boolean,
  created_at: DateTime,
  accepted_at: Schema.optionalKey(DateTime),
  deleted_at: Schema.optionalKey(DateTime),
  sender_code_accepted_at: Schema.optionalKey(DateTime),
  message: Schema.optionalKey(Schema.String),
  status: TransferStatus,
  sender_id: Uuid,
  sender_email: Schema.optionalKey(Schema.String),
  expires_at: DateTime,
}).annotate({ identifier: "DisplayTransferRequest" })
export type DisplayTransferRequest = typeof DisplayTransferRequest.Type

export const ListOfDisplayTransferRequest = pageOf(DisplayTransferRequest, "ListOfDisplayTransferRequest")

export const ResentCode = Schema.Struct({ status: TransferStatus, resend_after: DateTime }).annotate({
  identifier: "ResentCode",
})
