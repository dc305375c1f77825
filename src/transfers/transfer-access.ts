import { Effect, Exit } from "effect"
import type { TransferSnapshot } from "../../actors/transfer.ts"
import { refusal } from "../../machines/transfers/refusal.ts"
import { Forbidden, NotFound } from "../../schema/errors.ts"
import type { TransferContext } from "../../schema/transfers/transfer-snapshot.ts"
import { Parties } from "../accounts/party-store.ts"
import type { Principal } from "../http/principal.ts"
import { checkTaken } from "./code-attempt-store.ts"
import type { Side } from "./code-mails.ts"
import { makeTransferFacts } from "./facts-store.ts"
import { toProblem, unconfirmed } from "./refusals.ts"

const roleOf = (caller: Principal, { recipient, sender }: TransferContext): Side | "admin" | undefined => {
  if (caller.userId === sender.id) return "sender"
  if (caller.userId === recipient.id) return "receiver"
  return caller.scopes.has("adminEmoji:transfer") ? "admin" : undefined
}
export const awaitedState = { sender: "AwaitingSender", receiver: "AwaitingReceiver" } as const
const acceptEvent = { sender: "SENDER_ACCEPT", receiver: "RECEIVER_ACCEPT" } as const

/** Fails with an API error if a transfer that waits for a code would refuse the event. */
export const checkAllowed = (
  context: TransferContext,
  event: { readonly type: "SENDER_ACCEPT" | "RECEIVER_ACCEPT" | "RESEND"; readonly now: number },
) => {
  const refused = refusal(context, event)
  return refused === undefined ? Effect.void : Effect.fail(toProblem(refused, context))
}

const unseen = () => unconfirmed("This transfer was sent to an email address that you have not confirmed.")

/** Checks who may use a transfer, and who may enter its code. */
export const makeTransferAccess = Effect.gen(function* () {
  const facts = yield* makeTransferFacts
  const parties = yield* Parties

  const recipientSees = ({ recipient }: TransferContext) =>
    parties.hasConfirmed(recipient.id, recipient.email)

  /**
   * Returns the caller's role in the transfer. Other users get a 404, so they do not learn that the transfer exists.
   */
  const checkRole = Effect.fnUntraced(function* (caller: Principal, context: TransferContext) {
    const role = roleOf(caller, context)
    if (role === "receiver" && context.acceptedAt === null && !(yield* recipientSees(context)))
      return yield* unseen()
    return role ?? (yield* new NotFound({ error: "Transfer not found." }))
  })

  /**
   * Counts the attempt and reads what the confirmation depends on. In a state that does not wait for this code the
   * machine refuses the event, and the error response lists the allowed events. So that is no attempt.
   */
  const readFacts = Effect.fnUntraced(function* (
    side: Side,
    caller: Principal,
    { snapshot: { context, value } }: { readonly snapshot: TransferSnapshot },
    attempt: string,
    now: number,
  ) {
    if (roleOf(caller, context) !== side) {
      yield* checkRole(caller, context)
      return yield* new Forbidden({
        error: `Only the ${side === "sender" ? "sender" : "recipient"} of the transfer can enter this code.`,
      })
    }
    const allowed = yield* Effect.exit(checkAllowed(context, { type: acceptEvent[side], now }))
    const isAwaited = value === awaitedState[side]
    const isAttempt = isAwaited && Exit.isSuccess(allowed)
    const { eid, pubkey, recipient, sender } = context
    const known = yield* facts.ofEnteredCode({
      eid,
      senderId: sender.id,
      recipientId: recipient.id,
      recipientEmail: recipient.email,
      pubkey,
      userId: caller.userId,
      isRecipient: side === "receiver",
      attempt: isAttempt ? attempt : undefined,
    })
    if (side === "receiver" && context.acceptedAt === null && !known.sees) return yield* unseen()
    if (isAwaited) yield* allowed
    yield* checkTaken(known.taken)
    return { known, isAttempt }
  })

  return { checkRole, readFacts, recipientSees }
})
