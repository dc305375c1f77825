import { and, assign, setup } from "xstate"
import { isoTime } from "../../schema/iso-time.ts"
import type { ChannelEvent, Claim, Mail, Move } from "../../schema/turn.ts"
import { effectActions } from "../effects.ts"
import { type CodeSlip, type CodeVerdict, isResendable, judge, replaced, wrongTry } from "./code.ts"

export interface TransferInput {
  readonly id: string
  readonly eid: string
  readonly sender: { readonly id: string; readonly email: string | null }
  readonly recipient: { readonly id: string; readonly email: string }
  /** The key the id was addressed to, when it was addressed to a key. */
  readonly pubkey: string | null
  readonly clearOnTransfer: boolean
  readonly message: string | null
  /** By an admin, without the sender's code. */
  readonly forced: boolean
}

export interface TransferContext extends TransferInput {
  readonly createdAt: string
  readonly expiresAt: string
  readonly senderCode: CodeSlip | null
  readonly receiverCode: CodeSlip | null
  readonly senderAcceptedAt: string | null
  readonly acceptedAt: string | null
  readonly deletedAt: string | null
}

/** A fresh code: its slip for the state, its letter for the mail. */
interface Issue {
  readonly slip: CodeSlip
  readonly mail: Mail
}

type TransferEvent =
  | { readonly type: "REQUEST"; readonly now: number; readonly expiresAt: number; readonly issue: Issue }
  | { readonly type: "SENDER_ACCEPT"; readonly now: number; readonly matches: boolean; readonly issue: Issue }
  | {
      readonly type: "RECEIVER_ACCEPT"
      readonly now: number
      readonly matches: boolean
      readonly pubkey: string | null
      readonly blockedSeconds: number
      readonly mails: ReadonlyArray<Mail>
    }
  | { readonly type: "RESEND"; readonly now: number; readonly issue: Issue }
  | { readonly type: "DELETE"; readonly now: number }
  | { readonly type: "EXPIRE"; readonly now: number }

const hold = ({ eid, id, sender }: TransferContext): ReadonlyArray<Claim> => [
  { canonical: eid, kind: "transfer", holder: id, owner_id: sender.id, from_holder: sender.id, held: true },
]
const handTo = ({ eid, id }: TransferContext, ownerId: string): ReadonlyArray<Claim> => [
  { canonical: eid, kind: "owned", holder: ownerId, owner_id: ownerId, from_holder: id, held: true },
]
const move = (
  { clearOnTransfer, eid, recipient }: TransferContext,
  event: { readonly pubkey: string | null; readonly blockedSeconds: number },
): ReadonlyArray<Move> => [
  {
    canonical: eid,
    owner_id: recipient.id,
    pubkey: event.pubkey,
    clear_records: clearOnTransfer,
    blocked_seconds: event.blockedSeconds,
  },
]

const verdictOf = (context: TransferContext, event: TransferEvent): CodeVerdict | undefined => {
  if (event.type === "SENDER_ACCEPT") return judge(context.senderCode, event.now, event.matches)
  if (event.type === "RECEIVER_ACCEPT") return judge(context.receiverCode, event.now, event.matches)
  return undefined
}

interface At {
  readonly context: TransferContext
}
const takeId = { type: "claims", params: ({ context }: At) => hold(context) } as const
const giveIdBack = {
  type: "claims",
  params: ({ context }: At) => handTo(context, context.sender.id),
} as const

const tell = (type: string, status: string) =>
  ({
    type: "events",
    params: ({ context: { eid, id, recipient, sender } }: At) => {
      const data = { id, eid, status, sender_id: sender.id, recipient_id: recipient.id }
      return [`transfer:${id}`, `transfers:${sender.id}`, `transfers:${recipient.id}`].map(
        (channel): ChannelEvent => ({ channel, type, data }),
      )
    },
  }) as const
const tellOfOwner = {
  type: "events",
  params: ({ context: { eid } }: At) => [
    { channel: `emoji_id:${eid}`, type: "emoji_id.owner", data: { emoji_id: eid } },
  ],
} as const

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
    end: assign({ deletedAt: ({ event }) => isoTime(event.now) }),
  },
  guards: {
    isForced: ({ context }) => context.forced,
    isLive: ({ context, event }) => event.now < Date.parse(context.expiresAt),
    isOver: ({ context, event }) => event.now >= Date.parse(context.expiresAt),
    codeIsRight: ({ context, event }) => verdictOf(context, event) === "right",
    codeIsWrong: ({ context, event }) => verdictOf(context, event) === "wrong",
    senderMayAskAgain: ({ context, event }) => isResendable(context.senderCode, event.now),
    receiverMayAskAgain: ({ context, event }) => isResendable(context.receiverCode, event.now),
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
    /** Never stored: a transfer begins with the request that takes the id. */
    New: {
      on: {
        REQUEST: [
          {
            guard: "isForced",
            target: "AwaitingReceiver",
            actions: [
              "begin",
              assign({ receiverCode: ({ event }) => event.issue.slip }),
              takeId,
              { type: "mail", params: ({ event }) => [event.issue.mail] },
              tell("transfer.created", "AwaitingReceiver"),
            ],
          },
          {
            target: "AwaitingSender",
            actions: [
              "begin",
              assign({ senderCode: ({ event }) => event.issue.slip }),
              takeId,
              { type: "mail", params: ({ event }) => [event.issue.mail] },
              tell("transfer.created", "AwaitingSender"),
            ],
          },
        ],
      },
    },
    AwaitingSender: {
      on: {
        SENDER_ACCEPT: [
          {
            guard: and(["isLive", "codeIsRight"]),
            target: "AwaitingReceiver",
            actions: [
              assign({
                senderCode: null,
                senderAcceptedAt: ({ event }) => isoTime(event.now),
                receiverCode: ({ event }) => event.issue.slip,
              }),
              { type: "mail", params: ({ event }) => [event.issue.mail] },
              tell("transfer.sender_accepted", "AwaitingReceiver"),
            ],
          },
          {
            guard: "codeIsWrong",
            actions: assign({ senderCode: ({ context }) => wrongTry(context.senderCode) }),
          },
        ],
        RESEND: {
          guard: and(["isLive", "senderMayAskAgain"]),
          actions: [
            assign({ senderCode: ({ context, event }) => replaced(context.senderCode, event.issue.slip) }),
            { type: "mail", params: ({ event }) => [event.issue.mail] },
          ],
        },
        DELETE: { target: "Deleted", actions: ["end", giveIdBack, tell("transfer.deleted", "Deleted")] },
        EXPIRE: {
          guard: "isOver",
          target: "Expired",
          actions: ["end", giveIdBack, tell("transfer.expired", "Expired")],
        },
      },
    },
    AwaitingReceiver: {
      on: {
        RECEIVER_ACCEPT: [
          {
            guard: and(["isLive", "codeIsRight"]),
            target: "Accepted",
            actions: [
              assign({ receiverCode: null, acceptedAt: ({ event }) => isoTime(event.now) }),
              { type: "claims", params: ({ context }) => handTo(context, context.recipient.id) },
              { type: "moves", params: ({ context, event }) => move(context, event) },
              { type: "mail", params: ({ event }) => event.mails },
              tell("transfer.accepted", "Accepted"),
              tellOfOwner,
            ],
          },
          {
            guard: "codeIsWrong",
            actions: assign({ receiverCode: ({ context }) => wrongTry(context.receiverCode) }),
          },
        ],
        RESEND: {
          guard: and(["isLive", "receiverMayAskAgain"]),
          actions: [
            assign({
              receiverCode: ({ context, event }) => replaced(context.receiverCode, event.issue.slip),
            }),
            { type: "mail", params: ({ event }) => [event.issue.mail] },
          ],
        },
        DELETE: { target: "Deleted", actions: ["end", giveIdBack, tell("transfer.deleted", "Deleted")] },
        EXPIRE: {
          guard: "isOver",
          target: "Expired",
          actions: ["end", giveIdBack, tell("transfer.expired", "Expired")],
        },
      },
    },
    Accepted: {},
    Deleted: {},
    Expired: {},
  },
})
