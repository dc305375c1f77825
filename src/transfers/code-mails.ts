import { Context, Effect, Layer } from "effect"
import type { Issue } from "../../machines/transfers/transfer.ts"
import type { IssuedCode, TransferInput } from "../../schema/transfers/transfer-snapshot.ts"
import type { Mail } from "../../schema/turn.ts"
import type { Party } from "../accounts/party-store.ts"
import { OneTimeCodes } from "../accounts/sessions/one-time-codes.ts"
import { AppConfig } from "../config/read-config.ts"

export type Side = "sender" | "receiver"

const contextOf = (side: Side, transferId: string) =>
  ({ purpose: side === "sender" ? "transfer-sender" : "transfer-receiver", subject: transferId }) as const

/** The recipient as the sender entered it: a public key, or an email address. */
export const recipientName = ({ pubkey, recipient }: Pick<TransferInput, "pubkey" | "recipient">): string =>
  pubkey ?? recipient.email

/** Creates and checks the codes of transfers. A code is valid only for one party of one transfer. */
export class TransferMails extends Context.Service<
  TransferMails,
  {
    toSender(transfer: TransferInput, email: string, now: number): Effect.Effect<Issue>
    toReceiver(
      transfer: TransferInput,
      to: Pick<Party, "invited" | "unproven"> & { readonly email: string },
      now: number,
    ): Effect.Effect<Issue>
    matches(issued: IssuedCode | null, side: Side, transferId: string, typed: string): boolean
  }
>()("directory/TransferMails") {
  static readonly layer = Layer.effect(
    TransferMails,
    Effect.gen(function* () {
      const codes = yield* OneTimeCodes
      const config = yield* AppConfig

      const issue = (side: Side, transferId: string, now: number, write: (code: string) => Mail) =>
        Effect.map(codes.makeSixDigits, (code): Issue => {
          const mail = write(code)
          return {
            code: {
              hash: codes.hash(contextOf(side, transferId), code),
              sentAt: now,
              expiresAt: now + config.transferCodeSeconds * 1000,
              wrongTries: 0,
              resends: 0,
            },
            mail: { ...mail, data: { ...mail.data, good_seconds: config.transferCodeSeconds } },
          }
        })

      return TransferMails.of({
        toSender: (transfer, email, now) =>
          issue("sender", transfer.id, now, (code) => ({
            to: email,
            kind: "transfer_sender_code",
            data: { code, eid: transfer.eid, recipient: recipientName(transfer), transfer_id: transfer.id },
          })),
        toReceiver: ({ eid, id, message, sender }, to, now) =>
          issue("receiver", id, now, (code) => ({
            to: to.email,
            kind: to.invited ? "transfer_invitation" : "transfer_receiver_code",
            data: {
              code,
              eid,
              sender: sender.email,
              transfer_id: id,
              ...(message === null ? {} : { message }),
              ...(to.invited || to.unproven ? { link: config.webUrl } : {}),
            },
          })),
        matches: (issued, side, transferId, typed) =>
          issued !== null &&
          codes.matches(issued.hash, contextOf(side, transferId), typed.replace(/\s/g, "")),
      })
    }),
  )
}
