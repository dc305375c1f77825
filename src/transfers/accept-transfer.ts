import { Context, Effect, Layer } from "effect"
import { TransferActors } from "../../actors/transfer.ts"
import {
  type CodeSlip,
  judge,
  maxResends,
  maxWrongTries,
  resendableAt,
} from "../../machines/transfers/code.ts"
import type { TransferContext } from "../../machines/transfers/transfer.ts"
import {
  Conflict,
  EventRefused,
  Forbidden,
  fieldFault,
  NotFound,
  TooManyRequests,
} from "../../schema/errors.ts"
import { isoTime } from "../../schema/iso-time.ts"
import type { TransferStatus } from "../../schema/transfers/transfer.ts"
import { Parties } from "../accounts/party-store.ts"
import { AppConfig } from "../config/config.ts"
import type { Principal } from "../http/principal.ts"
import { DefaultPubkeys } from "../keys/default-pubkey.ts"
import { MintPermissions } from "../minting/mint-permission-store.ts"
import { checkNotMintable } from "../minting/minting.ts"
import { namedBy, type Side, TransferMails } from "./code-mails.ts"
import { displayTransfer } from "./transfer-store.ts"

const refuseCode = (code: string, message: string) => fieldFault("code", code, message)

const roleOf = (caller: Principal, { recipient, sender }: TransferContext): Side | "admin" | undefined => {
  if (caller.userId === sender.id) return "sender"
  if (caller.userId === recipient.id) return "receiver"
  return caller.scopes.has("adminEmoji:transfer") ? "admin" : undefined
}
const keyGone = () =>
  new Conflict({
    error: "The key this was sent to is no longer the recipient's. Delete the transfer and start over.",
  })
/** What was sent may be why: only an administrator moves what such an account has. */
const senderGone = () => new Conflict({ error: "The account of the sender is not active any more." })
const awaitedState = { sender: "AwaitingSender", receiver: "AwaitingReceiver" } as const

const make = Effect.gen(function* () {
  const actors = yield* TransferActors
  const config = yield* AppConfig
  const keys = yield* DefaultPubkeys
  const mails = yield* TransferMails
  const mintPermissions = yield* MintPermissions
  const parties = yield* Parties

  /** Strangers do not learn that the transfer exists. */
  const checkRole = Effect.fnUntraced(function* (caller: Principal, context: TransferContext) {
    const role = roleOf(caller, context)
    return role ?? (yield* new NotFound({ error: "There is no such transfer." }))
  })

  const checkLive = Effect.fnUntraced(function* (context: TransferContext, now: number) {
    if (now < Date.parse(context.expiresAt)) return
    return yield* new EventRefused({
      error: `The transfer expired at ${context.expiresAt}.`,
      details: { state: "Expired", allowed: [] },
    })
  })

  const checkCode = Effect.fnUntraced(function* (slip: CodeSlip | null, now: number) {
    const verdict = judge(slip, now, true)
    if (verdict === "spent") {
      return yield* refuseCode(
        "too_many_tries",
        `This code was tried wrongly ${maxWrongTries} times. Ask for a new one.`,
      )
    }
    if (verdict === "expired")
      return yield* refuseCode("expired", "This code has expired. Ask for a new one.")
  })

  const checkPause = Effect.fnUntraced(function* (slip: CodeSlip | null, now: number) {
    if ((slip?.resends ?? 0) >= maxResends) {
      return yield* new TooManyRequests({
        error: `A code is sent again at most ${maxResends} times. Delete the transfer and start over.`,
      })
    }
    const waitMs = resendableAt(slip) - now
    if (waitMs <= 0) return
    const retryAfterSeconds = Math.ceil(waitMs / 1000)
    return yield* new TooManyRequests({
      error: `A code was sent just now; ask again in ${retryAfterSeconds} s.`,
      retryAfterSeconds,
    })
  })

  const findEmail = Effect.fnUntraced(function* (userId: string) {
    const party = yield* parties.find(userId)
    if (party?.email == null) return yield* refuseCode("eligibility", "There is no email to send a code to.")
    return { email: party.email, invited: party.invited }
  })

  /** Who had only added the key loses it to who holds its private half, and with it what is sent to the key. */
  const checkAddressee = Effect.fnUntraced(function* ({ pubkey, recipient }: TransferContext) {
    if (pubkey === null || (yield* parties.findByPubkey(pubkey))?.id === recipient.id) return
    return yield* keyGone()
  })

  const issueFor = Effect.fnUntraced(function* (side: Side, context: TransferContext, now: number) {
    if (side === "sender") {
      return yield* mails.toSender(context, (yield* findEmail(context.sender.id)).email, now)
    }
    const to = yield* findEmail(context.recipient.id)
    // To the address the sender named, if it was one: an account that squats it could have moved its mail elsewhere since.
    return yield* mails.toReceiver(context, { ...to, email: context.recipient.email || to.email }, now)
  })

  /** One turn by a party. The claim can only be missing when the id itself was destroyed meanwhile. */
  const turn = <E>(id: string, decide: Parameters<typeof actors.turn<E, never>>[1]) =>
    actors.turn(id, decide).pipe(
      Effect.catchTag("IdsTaken", () =>
        Effect.fail(new Conflict({ error: "The id is no longer held by this transfer." })),
      ),
      // Of a transfer that can only be that its recipient was deleted, or has lost the key.
      Effect.catchTag("LimitReached", (reached) =>
        Effect.fail(
          "limit" in reached && reached.limit === "key_gone"
            ? keyGone()
            : new Conflict({ error: "The account of the recipient was deleted." }),
        ),
      ),
      Effect.catchTag("UniqueConflict", Effect.die),
    )

  /** The event that a typed code amounts to. A wrong one is an event too: it uses up a try. */
  const accepting = Effect.fnUntraced(function* (
    side: Side,
    context: TransferContext,
    matches: boolean,
    now: number,
  ) {
    if (matches) yield* checkAddressee(context)
    if (side === "sender") {
      return {
        type: "SENDER_ACCEPT",
        now,
        matches,
        issue: yield* issueFor("receiver", context, now),
      } as const
    }
    if (matches) yield* checkNotMintable(mintPermissions, context.eid)
    const pubkey = matches ? yield* keys.of(context.recipient.id, context.pubkey) : null
    const sender = yield* parties.find(context.sender.id)
    if (matches && !context.forced && sender?.active !== true) return yield* senderGone()
    const data = { eid: context.eid, recipient: namedBy(context), transfer_id: context.id }
    const mails = sender?.email == null ? [] : [{ to: sender.email, kind: "transfer_accepted", data }]
    const blockedSeconds = config.transferBlockSeconds
    return { type: "RECEIVER_ACCEPT", now, matches, pubkey, blockedSeconds, mails } as const
  })

  const accept = Effect.fnUntraced(function* (side: Side, caller: Principal, id: string, typed: string) {
    let triesLeft: number | undefined
    const { snapshot } = yield* turn(id, ({ snapshot: { context, value } }, now) =>
      Effect.gen(function* () {
        const role = yield* checkRole(caller, context)
        if (role !== side) {
          return yield* new Forbidden({
            error: `Only the ${side === "sender" ? "sender" : "recipient"} can do this.`,
          })
        }
        const slip = side === "sender" ? context.senderCode : context.receiverCode
        // In any other state the machine refuses, and says what it allows.
        if (value === awaitedState[side]) {
          yield* checkLive(context, now)
          yield* checkCode(slip, now)
        }
        const matches = mails.matches(slip, side, id, typed)
        triesLeft = matches || slip === null ? undefined : maxWrongTries - slip.wrongTries - 1
        return yield* accepting(side, context, matches, now)
      }),
    )
    if (triesLeft === undefined) return snapshot.context
    const left = triesLeft === 1 ? "1 try is left" : `${triesLeft} tries are left`
    return yield* refuseCode("invalid", `The code is wrong; ${left}.`)
  })

  const show = (snapshot: { readonly value: unknown; readonly context: TransferContext }) =>
    displayTransfer({ status: snapshot.value as TransferStatus, context: snapshot.context })

  return {
    senderAccept: Effect.fnUntraced(function* (caller: Principal, id: string, code: string) {
      const context = yield* accept("sender", caller, id, code)
      return displayTransfer({ status: "AwaitingReceiver", context })
    }),

    /** Answers the ids that moved. */
    receiverAccept: Effect.fnUntraced(function* (caller: Principal, id: string, code: string) {
      const context = yield* accept("receiver", caller, id, code)
      return [context.eid]
    }),

    remove: Effect.fnUntraced(function* (caller: Principal, id: string) {
      const { snapshot } = yield* turn(id, ({ snapshot: { context } }, now) =>
        Effect.as(checkRole(caller, context), { type: "DELETE", now } as const),
      )
      return show(snapshot)
    }),

    /** A new code for whoever is to act. The sender may also hurry the receiver; nobody else hurries the sender. */
    resend: Effect.fnUntraced(function* (caller: Principal, id: string) {
      const { snapshot } = yield* turn(id, ({ snapshot: { context, value } }, now) =>
        Effect.gen(function* () {
          const role = yield* checkRole(caller, context)
          const side = value === "AwaitingSender" ? "sender" : "receiver"
          if (value === "AwaitingSender" && role === "receiver") {
            return yield* new Forbidden({ error: "The sender has to confirm first." })
          }
          if (value === "AwaitingSender" || value === "AwaitingReceiver") {
            yield* checkLive(context, now)
            yield* checkPause(side === "sender" ? context.senderCode : context.receiverCode, now)
          }
          return { type: "RESEND", now, issue: yield* issueFor(side, context, now) } as const
        }),
      )
      const { context } = snapshot
      const slip = snapshot.value === "AwaitingSender" ? context.senderCode : context.receiverCode
      return { status: show(snapshot).status, resend_after: isoTime(resendableAt(slip)) }
    }),
  }
})

/** The life of a transfer after its request. */
export class TransferAcceptance extends Context.Service<TransferAcceptance, Effect.Success<typeof make>>()(
  "directory/TransferAcceptance",
) {
  static readonly layer = Layer.effect(TransferAcceptance, make)
}
