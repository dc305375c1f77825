import { Context, type Effect, Layer } from "effect"
import type { SnapshotFrom } from "xstate"
import { transferMachine } from "../machines/transfers/transfer.ts"
import { TransferContext } from "../schema/transfers/transfer-snapshot.ts"
import { makeHost } from "./host.ts"

export type TransferSnapshot = SnapshotFrom<typeof transferMachine>

const make = makeHost({
  entity: "transfer",
  machine: transferMachine,
  format: { version: 1, context: TransferContext },
  columns: ({ context, status, value }) => ({
    status: value,
    owner_id: context.sender.id,
    peer_id: context.recipient.id,
    subject: context.eid,
    due_at: status === "active" ? context.expiresAt : null,
  }),
  showsInAccount: true,
  dueEvent: (now) => ({ type: "EXPIRE", now }) as const,
  operations: {
    SENDER_ACCEPT: "sender_accept",
    RECEIVER_ACCEPT: "receiver_accept",
    RESEND: "resend_code",
    DELETE: "delete",
  },
})

export class TransferActors extends Context.Service<TransferActors, Effect.Success<typeof make>>()(
  "directory/TransferActors",
) {
  static readonly layer = Layer.effect(TransferActors, make)
}
