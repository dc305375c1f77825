import { and, assign, setup } from "xstate"
import { isoTime } from "../../schema/iso-time.ts"
import type { IssuedCode, TransferContext, TransferInput } from "../../schema/transfers/transfer-snapshot.ts"
import type { ChannelEvent, Claim, Mail, Move } from "../../schema/turn.ts"
import { effectActions } from "../effects.ts"
import { awaitedCode, hasExpired, refusal, withAwaitedCode } from "./refusal.ts"

/** A new code. The transfer stores `code`, which does not contain the digits; the mail contains them. */
export interface Issue {
  readonly code: IssuedCode
  readonly mail: Mail
}

interface PublishedEvent {
  readonly now: number
  /**
   * False if the recipient has not confirmed the address that the sender entered. The event is then not published to
   * the recipient.
   */
  readonly recipientSees?: boolean
}

type TransferEvent =
  | ({ readonly type: "REQUEST"; readonly expiresAt: number; readonly issue: Issue } & PublishedEvent)
  | ({ readonly type: "SENDER_ACCEPT"; readonly matches: boolean; readonly issue: Issue } & PublishedEvent)
  | ({
      readonly type: "RECEIVER_ACCEPT"
      readonly matches: boolean
      readonly pubkey: string | null
      readonly blockedSeconds: number
      readonly mails: ReadonlyArray<Mail>
    } & PublishedEvent)
  | { readonly type: "RESEND"; readonly now: number; readonly issue: Issue }
  | ({ readonly type: "DELETE" } & PublishedEvent)
  | { readonly type: "EXPIRE"; readonly now: number }

interface Args {
  readonly context: TransferContext
}

const claimId = {
  type: "claims",
  params: ({ context: { eid, id, sender } }: Args): ReadonlyArray<Claim> => [
    { canonical: eid, kind: "transfer", holder: id, owner_id: sender.id, from_holder: sender.id, held: true },
  ],
} as const
const giveIdTo = (party: "recipient" | "sender") =>
  ({
    type: "claims",
    params: ({ context }: Args): ReadonlyArray<Claim> => {
      const { id } = context[party]
      const { eid: canonical, id: from_holder } = context
      return [{ canonical, kind: "owned", holder: id, owner_id: id, from_holder, held: true }]
    },
  }) as const
const moveId = {
  type: "moves",
  params: ({
    context: { clearOnTransfer, eid, recipient },
    event: { blockedSeconds, pubkey },
  }: Args & {
    readonly event: { readonly pubkey: string | null; readonly blockedSeconds: number }
  }): ReadonlyArray<Move> => [
    {
      canonical: eid,
      owner_id: recipient.id,
      pubkey,
      clear_records: clearOnTransfer,
      blocked_seconds: blockedSeconds,
    },
  ],
} as const
const mailCode = {
  type: "mail",
  params: ({ event }: { readonly event: { readonly issue: Issue } }) => [event.issue.mail],
} as const
const publish = (type: string, status: string) =>
  ({
    type: "events",
    params: ({ context, event }: Args & { readonly event: PublishedEvent }) => {
      const { eid, id, recipient, sender } = context
      const data = { id, eid, status, sender_id: sender.id, recipient_id: recipient.id }
      const channels = [`transfer:${id}`, `transfers:${sender.id}`]
      if ((event.recipientSees ?? context.recipientSees) !== false) channels.push(`transfers:${recipient.id}`)
      return channels.map((channel): ChannelEvent => ({ channel, type, data }))
    },
  }) as const
const publishOwner = {
  type: "events",
  params: ({ context: { eid } }: Args) => [
    { channel: `emoji_id:${eid}`, type: "emoji_id.owner", data: { emoji_id: eid } },
  ],
} as const

/**
 * The events that both states that wait for a code accept. A parent state could contain them, but it would change the
 * state value of stored snapshots.
 */
const awaiting = {
  RESEND: { guard: "isAllowed", actions: ["replaceCode", mailCode] },
  DELETE: {
    target: "Deleted",
    actions: ["end", giveIdTo("sender"), publish("transfer.deleted", "Deleted")],
  },
  EXPIRE: {
    guard: "hasExpired",
    target: "Expired",
    actions: ["end", giveIdTo("sender"), publish("transfer.expired", "Expired")],
  },
} as const
const wrongCode = { guard: "isAllowed", actions: "countWrongTry" } as const

export const transferMachine = setup({
  types: {
    input: {} as TransferInput,
    context: {} as TransferContext,
    events: {} as TransferEvent,
  },
  actions: {
    ...effectActions,
    begin: assign(({ event }) =>
      event.type === "REQUEST" ? { createdAt: isoTime(event.now), expiresAt: isoTime(event.expiresAt) } : {},
    ),
    noteRecipientSees: assign(({ event }) =>
      "recipientSees" in event && event.recipientSees !== undefined
        ? { recipientSees: event.recipientSees }
        : {},
    ),
    end: assign({ deletedAt: ({ event }) => isoTime(event.now) }),
    countWrongTry: assign(({ context }) => {
      const code = awaitedCode(context)
      return code === null ? {} : withAwaitedCode(context, { ...code, wrongTries: code.wrongTries + 1 })
    }),
    replaceCode: assign(({ context, event }) => {
      const resends = (awaitedCode(context)?.resends ?? 0) + 1
      return event.type === "RESEND" ? withAwaitedCode(context, { ...event.issue.code, resends }) : {}
    }),
  },
  guards: {
    isForced: ({ context }) => context.forced,
    isAllowed: ({ context, event }) => refusal(context, event) === undefined,
    codeMatches: ({ event }) => "matches" in event && event.matches,
    hasExpired: ({ context, event }) => hasExpired(context, event.now),
  },
}).createMachine({
  id: "transfer",
  initial: "New",
  context: ({ input }) => ({
    ...input,
    createdAt: "",
    expiresAt: "",
    senderCode: null,
    receiverCode: null,
    senderAcceptedAt: null,
    acceptedAt: null,
    deletedAt: null,
  }),
  states: {
    /**
     * A transfer in this state is never stored. The first turn is the request, which leaves the state and claims the
     * id.
     */
    New: {
      on: {
        REQUEST: [
          {
            guard: "isForced",
            target: "AwaitingReceiver",
            actions: [
              "begin",
              "noteRecipientSees",
              assign({ receiverCode: ({ event }) => event.issue.code }),
              claimId,
              mailCode,
              publish("transfer.created", "AwaitingReceiver"),
            ],
          },
          {
            target: "AwaitingSender",
            actions: [
              "begin",
              "noteRecipientSees",
              assign({ senderCode: ({ event }) => event.issue.code }),
              claimId,
              mailCode,
              publish("transfer.created", "AwaitingSender"),
            ],
          },
        ],
      },
    },
    AwaitingSender: {
      on: {
        SENDER_ACCEPT: [
          {
            guard: and(["isAllowed", "codeMatches"]),
            target: "AwaitingReceiver",
            actions: [
              "noteRecipientSees",
              assign({
                senderCode: null,
                senderAcceptedAt: ({ event }) => isoTime(event.now),
                receiverCode: ({ event }) => event.issue.code,
              }),
              mailCode,
              publish("transfer.sender_accepted", "AwaitingReceiver"),
            ],
          },
          wrongCode,
        ],
        ...awaiting,
      },
    },
    AwaitingReceiver: {
      on: {
        RECEIVER_ACCEPT: [
          {
            guard: and(["isAllowed", "codeMatches"]),
            target: "Accepted",
            actions: [
              assign({ receiverCode: null, acceptedAt: ({ event }) => isoTime(event.now) }),
              giveIdTo("recipient"),
              moveId,
              { type: "mail", params: ({ event }) => event.mails },
              publish("transfer.accepted", "Accepted"),
              publishOwner,
            ],
          },
          wrongCode,
        ],
        ...awaiting,
      },
    },
    Accepted: { type: "final" },
    Deleted: { type: "final" },
    Expired: { type: "final" },
  },
})
