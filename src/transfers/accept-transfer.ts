import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { TransferActors, type TransferSnapshot } from "../../actors/transfer.ts"
import { awaitedCode, maxWrongTries, resendableAt } from "../../machines/transfers/refusal.ts"
import { Conflict, Forbidden } from "../../schema/errors.ts"
import { isoTime } from "../../schema/iso-time.ts"
import type { TransferStatus } from "../../schema/transfers/transfer.ts"
import type { TransferContext } from "../../schema/transfers/transfer-snapshot.ts"
import type { TurnEffects } from "../../schema/turn.ts"
import { Parties, type Party } from "../accounts/party-store.ts"
import { AppConfig } from "../config/read-config.ts"
import type { Principal } from "../http/principal.ts"
import { DefaultPubkeys } from "../keys/default-pubkey.ts"
import { checkMayMove } from "../minting/minting.ts"
import { CodeAttempts } from "./code-attempt-store.ts"
import { recipientName, type Side, TransferMails } from "./code-mails.ts"
import type { AcceptFacts } from "./facts-store.ts"
import { invalidCode, keyRemoved, senderInactive } from "./refusals.ts"
import { awaitedState, checkAllowed, makeTransferAccess } from "./transfer-access.ts"
import { displayTransfer } from "./transfer-store.ts"

const noEmail = "This user has no email address to send a code to."
interface Shown {
  readonly context: TransferContext
  readonly value: TransferStatus
}
const shownOf = ({ context, value }: TransferSnapshot): Shown => ({
  context,
  value: value as TransferStatus,
})

const make = Effect.gen(function* () {
  const actors = yield* TransferActors
  const attempts = yield* CodeAttempts
  const config = yield* AppConfig
  const { checkRole, readFacts, recipientSees } = yield* makeTransferAccess
  const keys = yield* DefaultPubkeys
  const mails = yield* TransferMails
  const parties = yield* Parties

  /**
   * Fails if the recipient no longer has the key that the sender entered. A user who added a key without a proof
   * loses it when another user proves possession of the private key.
   */
  const checkRecipientKey = Effect.fnUntraced(function* ({ pubkey, recipient }: TransferContext) {
    if (pubkey === null || (yield* parties.findByPubkey(pubkey))?.id === recipient.id) return
    return yield* keyRemoved()
  })

  const issueFor = Effect.fnUntraced(function* (
    side: Side,
    context: TransferContext,
    to: Party | null | undefined,
    now: number,
  ) {
    if (to?.email == null) return yield* invalidCode("eligibility", noEmail)
    if (side === "sender") return yield* mails.toSender(context, to.email, now)
    // The code is mailed to the address that the sender entered, if there is one. The account may have another
    // address now: a person could register with someone else's address and change it after the transfer was
    // requested. The code must not go to that person's new address.
    return yield* mails.toReceiver(context, { ...to, email: context.recipient.email || to.email }, now)
  })

  /**
   * Runs the turn of a request. It is stored with the Idempotency-Key, with this outcome. `IdsTaken` can only mean that the id was removed from the directory: nothing else ends the claim of
   * a transfer.
   */
  const turn = <E, T>(
    id: string,
    decide: Parameters<typeof actors.turn<E, never>>[1],
    outcome: (next: TransferSnapshot) => T,
    also?: () => TurnEffects,
  ) =>
    actors.turn(id, decide, { outcome, also }).pipe(
      Effect.map(({ written }) => written),
      Effect.catchTag("IdsTaken", () =>
        Effect.fail(new Conflict({ error: "The emoji id of this transfer was removed from the directory." })),
      ),
      // A transfer can violate two limits: the recipient's account must exist, and it must have the key.
      Effect.catchTag("LimitReached", (reached) =>
        Effect.fail(
          "limit" in reached && reached.limit === "key_gone"
            ? keyRemoved()
            : new Conflict({ error: "The recipient's account was deleted." }),
        ),
      ),
      Effect.catchTag("UniqueConflict", Effect.die),
    )

  /**
   * Creates the event for an entered code. A wrong code also causes an event, because the turn must count the try.
   */
  const acceptEventFor = Effect.fnUntraced(function* (
    side: Side,
    context: TransferContext,
    known: AcceptFacts,
    matches: boolean,
    now: number,
  ) {
    if (matches) yield* checkRecipientKey(context)
    if (side === "sender") {
      return {
        type: "SENDER_ACCEPT",
        now,
        matches,
        issue: yield* issueFor("receiver", context, known.recipient, now),
        recipientSees: known.sees,
      } as const
    }
    const { pubkey: oldest, sender } = known
    if (matches) yield* checkMayMove(known, context.eid, context)
    const pubkey = matches ? (oldest ?? (yield* keys.of(context.recipient.id, context.pubkey))) : null
    if (matches && !context.forced && sender?.active !== true) return yield* senderInactive()
    const data = { eid: context.eid, recipient: recipientName(context), transfer_id: context.id }
    const mails = sender?.email == null ? [] : [{ to: sender.email, kind: "transfer_accepted", data }]
    const blockedSeconds = config.transferBlockSeconds
    // `readFacts` has checked that the recipient sees the transfer.
    return {
      type: "RECEIVER_ACCEPT",
      now,
      matches,
      pubkey,
      blockedSeconds,
      mails,
      recipientSees: true,
    } as const
  })

  /** Commits the code that was entered. A wrong code is committed too, because the turn must count the try. */
  const enterCode = (side: Side, caller: Principal, id: string, typed: string) => {
    // The turn may be decided again after a conflict. The request is still one attempt.
    const attempt = randomUUID()
    let triesLeft: number | null = null
    let isRight = false
    return turn(
      id,
      (current, now) =>
        Effect.gen(function* () {
          const { context } = current.snapshot
          const { isAttempt, known } = yield* readFacts(side, caller, current, attempt, now)
          const code = awaitedCode(context)
          const matches = mails.matches(code, side, id, typed)
          isRight = matches && isAttempt
          triesLeft = matches || code === null ? null : maxWrongTries - code.wrongTries - 1
          return yield* acceptEventFor(side, context, known, matches, now)
        }),
      ({ context }) => ({ context, triesLeft }),
      () => (isRight ? { right_codes: [attempt] } : {}),
    ).pipe(
      // A correct code does not count as an attempt, even if the transfer is refused for another reason.
      Effect.onError(() => (isRight ? Effect.ignore(attempts.giveBack(attempt)) : Effect.void)),
    )
  }

  const accept = Effect.fnUntraced(function* (side: Side, caller: Principal, id: string, typed: string) {
    const { context, triesLeft } = yield* atMostOnce(enterCode(side, caller, id, typed))
    if (triesLeft === null) return context
    const left = triesLeft === 1 ? "1 try is left" : `${triesLeft} tries are left`
    return yield* invalidCode("invalid", `The code is incorrect. ${left}.`)
  })

  const show = ({ context, value }: Shown) => displayTransfer({ status: value, context })

  return {
    senderAccept: Effect.fnUntraced(function* (caller: Principal, id: string, code: string) {
      const context = yield* accept("sender", caller, id, code)
      return displayTransfer({ status: "AwaitingReceiver", context })
    }),

    /** Accepts the transfer and returns the ids that moved to the recipient. */
    receiverAccept: Effect.fnUntraced(function* (caller: Principal, id: string, code: string) {
      const context = yield* accept("receiver", caller, id, code)
      return [context.eid]
    }),

    remove: (caller: Principal, id: string) =>
      turn(
        id,
        ({ snapshot: { context } }, now) =>
          checkRole(caller, context).pipe(
            Effect.andThen(recipientSees(context)),
            Effect.map((sees) => ({ type: "DELETE", now, recipientSees: sees }) as const),
          ),
        shownOf,
      ).pipe(atMostOnce, Effect.map(show)),

    /**
     * Mails a new code to the party that must confirm next. The sender can also request a new code for the receiver,
     * but the receiver cannot request one for the sender.
     */
    resend: (caller: Principal, id: string) =>
      turn(
        id,
        ({ snapshot: { context, value } }, now) =>
          Effect.gen(function* () {
            const role = yield* checkRole(caller, context)
            const side = value === "AwaitingSender" ? "sender" : "receiver"
            if (value === "AwaitingSender" && role === "receiver") {
              return yield* new Forbidden({ error: "The sender must confirm the transfer first." })
            }
            const event = { type: "RESEND", now } as const
            if (value === awaitedState[side]) yield* checkAllowed(context, event)
            const to = yield* parties.find((side === "sender" ? context.sender : context.recipient).id)
            return { ...event, issue: yield* issueFor(side, context, to, now) }
          }),
        shownOf,
      ).pipe(
        atMostOnce,
        Effect.map(({ context, value }) => ({
          status: value,
          resend_after: isoTime(resendableAt(awaitedCode(context))),
        })),
      ),
  }
})

/** Confirms and deletes requested transfers, and sends their codes again. */
export class TransferAcceptance extends Context.Service<TransferAcceptance, Effect.Success<typeof make>>()(
  "directory/TransferAcceptance",
) {
  static readonly layer = Layer.effect(TransferAcceptance, make)
}
