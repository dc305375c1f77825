import { randomUUID } from "node:crypto"
import { Context, Effect, Exit, Layer } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { TransferActors } from "../../actors/transfer.ts"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import {
  Conflict,
  Forbidden,
  fieldFault,
  NotFound,
  type Unavailable,
  type Unprocessable,
} from "../../schema/errors.ts"
import type { DisplayTransferRequest, TransferStatus } from "../../schema/transfers/transfer.ts"
import type { TransferInput } from "../../schema/transfers/transfer-snapshot.ts"
import { Parties, type Party } from "../accounts/party-store.ts"
import { SecurityLog } from "../accounts/security-log/security-log.ts"
import { AppConfig } from "../config/read-config.ts"
import type { Principal } from "../http/principal.ts"
import { checkPubkey } from "../keys/pubkeys.ts"
import { checkMayMove } from "../minting/minting.ts"
import { TransferMails } from "./code-mails.ts"
import { makeTransferFacts, type RecipientAddress, type RequestFacts } from "./facts-store.ts"
import { displayTransfer } from "./transfer-store.ts"

export interface NewTransfer {
  readonly eid: EmojiId
  readonly email?: string | null
  readonly pubkey?: string | null
  readonly clear_on_transfer?: boolean | null
  readonly force_transfer?: boolean | null
  readonly message?: string | null
}

const alreadyMoving = (eid: string) =>
  new Conflict({
    error: `${eid} already has an active transfer. Delete that transfer before you create another.`,
  })

/** Creates transfers. Checks that the caller may send the id and that the recipient can receive it. */
export class TransferRequests extends Context.Service<
  TransferRequests,
  {
    create(
      caller: Principal,
      transfer: NewTransfer,
    ): Effect.Effect<DisplayTransferRequest, Conflict | Forbidden | NotFound | Unprocessable | Unavailable>
  }
>()("directory/TransferRequests") {
  static readonly layer = Layer.effect(
    TransferRequests,
    Effect.gen(function* () {
      const actors = yield* TransferActors
      const config = yield* AppConfig
      const facts = yield* makeTransferFacts
      const mails = yield* TransferMails
      const parties = yield* Parties
      const securityLog = yield* SecurityLog

      /**
       * Returns the owner of the id. Fails if the caller is neither the owner nor an administrator, or if the id cannot
       * be transferred now.
       */
      const checkSender = Effect.fnUntraced(function* (
        caller: Principal,
        eid: string,
        holding: RequestFacts | undefined,
      ) {
        const mayMove = holding?.owner_id === caller.userId || caller.scopes.has("adminEmoji:transfer")
        if (holding === undefined || !mayMove) {
          return yield* new NotFound({ error: `${eid} is not registered, or you do not own it.` })
        }
        if (holding.is_moving) return yield* alreadyMoving(eid)
        if (holding.is_blocked) {
          return yield* new Conflict({
            error: `${eid} was transferred recently. It cannot be transferred again before ${holding.blocked_until}.`,
            details: { blocked_until: holding.blocked_until },
          })
        }
        const { sender } = holding
        if (sender === null) return yield* new NotFound({ error: "The owner's account no longer exists." })
        return { ...holding, sender }
      })

      /** The recipient that the caller entered. */
      const readAddress = Effect.fnUntraced(function* ({ email, pubkey }: NewTransfer) {
        if (typeof pubkey !== "string") return { email: email ?? "" } satisfies RecipientAddress
        const key = yield* checkPubkey(pubkey).pipe(
          Effect.mapError(() => fieldFault("pubkey", "invalid", "This is not a valid Ed25519 public key.")),
        )
        return { pubkey: key } satisfies RecipientAddress
      })

      const findRecipient = Effect.fnUntraced(function* (
        address: RecipientAddress,
        known: RequestFacts["recipient"],
      ) {
        if (known !== null) return known
        if ("pubkey" in address) return yield* fieldFault("pubkey", "unknown", "No user has this public key.")
        const invited = yield* parties.invite(address.email)
        return { ...invited, sees: yield* parties.hasConfirmed(invited.id, address.email) }
      })

      const checkRecipient = Effect.fnUntraced(function* (party: Party, field: string, senderId: string) {
        if (party.id === senderId) {
          return yield* fieldFault(field, "eligibility", "You cannot transfer an id to its owner.")
        }
        if (!party.active)
          return yield* fieldFault(field, "eligibility", "The recipient's account is not active.")
        if (party.email === null) {
          return yield* fieldFault(
            field,
            "eligibility",
            "The recipient has no email address to send a code to.",
          )
        }
        return party.email
      })

      const checkTransfer = Effect.fnUntraced(function* (caller: Principal, transfer: NewTransfer) {
        if (transfer.force_transfer && !caller.scopes.has("adminEmoji:transfer")) {
          return yield* new Forbidden({
            error: "force_transfer requires the scope adminEmoji:transfer.",
            details: { scope: "adminEmoji:transfer" },
          })
        }
        const hasEmail = typeof transfer.email === "string"
        const hasPubkey = typeof transfer.pubkey === "string"
        if (!hasEmail && !hasPubkey)
          return yield* fieldFault("email", "required", "Enter the recipient's email or pubkey.")
        if (hasEmail && hasPubkey) {
          return yield* fieldFault("pubkey", "exclusive", "Enter the recipient's email or pubkey, not both.")
        }
      })

      const request = Effect.fnUntraced(function* (caller: Principal, transfer: NewTransfer) {
        yield* checkTransfer(caller, transfer)
        const eid = transfer.eid.canonical
        // A public key that is not valid is reported after the checks of the sender.
        const read = yield* Effect.exit(readAddress(transfer))
        const known = yield* facts.ofRequest(eid, Exit.isSuccess(read) ? read.value : { email: "" })
        const { sender, ...holding } = yield* checkSender(caller, eid, known)
        const forced = transfer.force_transfer === true
        // While the id is minted, or its owner is allowed to mint it, only an administrator can create a (forced)
        // transfer. The recipient can accept it only after the mint permission has ended.
        if (!forced) yield* checkMayMove(holding, eid, { forced })
        const address = yield* read
        const pubkey = "pubkey" in address ? address.pubkey : null
        const party = yield* findRecipient(address, holding.recipient)
        const email = yield* checkRecipient(party, pubkey === null ? "email" : "pubkey", sender.id)
        const input: TransferInput = {
          id: randomUUID(),
          eid,
          sender: { id: sender.id, email: sender.email },
          // Public keys are not secret, so a sender can enter the key of an unknown user. The sender must not learn
          // the email address of this user.
          recipient: { id: party.id, email: pubkey === null ? email : "" },
          pubkey,
          clearOnTransfer: transfer.clear_on_transfer === true,
          message: transfer.message ?? null,
          forced,
        }
        const eventAt = (now: number) =>
          Effect.gen(function* () {
            if (!forced && sender.email === null) {
              return yield* fieldFault(
                "eid",
                "eligibility",
                "The owner of this id has no email address to send a code to.",
              )
            }
            const issue = forced
              ? yield* mails.toReceiver(input, { ...party, email }, now)
              : yield* mails.toSender(input, sender.email ?? "", now)
            const expiresAt = now + config.transferTtlSeconds * 1000
            return { type: "REQUEST", now, expiresAt, issue, recipientSees: party.sees } as const
          })
        const { written } = yield* actors
          .turn(input.id, (_, now) => eventAt(now), {
            create: input,
            outcome: ({ context, value }) => ({ context, status: value as TransferStatus }),
          })
          .pipe(
            // Another request has claimed the id after `checkSender`.
            Effect.catchTag("IdsTaken", () => Effect.fail(alreadyMoving(eid))),
            Effect.catchTag(["EventRefused", "LimitReached", "UniqueConflict"], Effect.die),
          )
        return written
      })

      return TransferRequests.of({
        create: Effect.fnUntraced(function* (caller, transfer) {
          const requested = yield* atMostOnce(request(caller, transfer))
          const { eid, forced, id, recipient, sender } = requested.context
          if (forced)
            yield* securityLog.record({
              event: "transfer.forced",
              userId: sender.id,
              details: { transfer_id: id, emoji_id: eid, recipient_id: recipient.id },
            })
          return displayTransfer(requested)
        }),
      })
    }),
  )
}
