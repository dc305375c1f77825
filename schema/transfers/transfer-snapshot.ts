import { Schema } from "effect"

/** A code that was mailed to one party. Only its hash is stored; the code itself is in the mail. */
export const IssuedCode = Schema.Struct({
  hash: Schema.String,
  sentAt: Schema.Finite,
  expiresAt: Schema.Finite,
  wrongTries: Schema.Int,
  resends: Schema.Int,
})
export type IssuedCode = typeof IssuedCode.Type

const input = {
  id: Schema.String,
  eid: Schema.String,
  sender: Schema.Struct({ id: Schema.String, email: Schema.NullOr(Schema.String) }),
  /** The email is empty if the sender entered a public key, because the sender must not learn whose key it is. */
  recipient: Schema.Struct({ id: Schema.String, email: Schema.String }),
  /** The recipient's public key if the sender entered one, otherwise null. */
  pubkey: Schema.NullOr(Schema.String),
  clearOnTransfer: Schema.Boolean,
  message: Schema.NullOr(Schema.String),
  /** True if an administrator requested the transfer. The sender then does not confirm it. */
  forced: Schema.Boolean,
}
const TransferInput = Schema.Struct(input)
export type TransferInput = typeof TransferInput.Type

/** The stored context of a transfer. */
export const TransferContext = Schema.Struct({
  ...input,
  createdAt: Schema.String,
  expiresAt: Schema.String,
  senderCode: Schema.NullOr(IssuedCode),
  receiverCode: Schema.NullOr(IssuedCode),
  senderAcceptedAt: Schema.NullOr(Schema.String),
  acceptedAt: Schema.NullOr(Schema.String),
  deletedAt: Schema.NullOr(Schema.String),
  /**
   * Whether events are published to the recipient. It becomes true when the recipient confirms the address that the
   * sender entered. Snapshots of older releases do not have it; their events were published.
   */
  recipientSees: Schema.optionalKey(Schema.Boolean),
})
export type TransferContext = typeof TransferContext.Type
