import { and, assign, setup } from "xstate"
import type { SessionContext, SessionDevice } from "../../schema/accounts/session-snapshot.ts"
import { isoTime } from "../../schema/iso-time.ts"
import { effectActions } from "../effects.ts"

interface Timed {
  readonly at: number
}
interface TokenRotation extends Timed {
  readonly expiresAt: number
  readonly device: SessionDevice
}

type SessionEvent =
  | (TokenRotation & {
      readonly type: "OPEN"
      /** The two-factor provider whose code this login requires. Null if the login requires no code. */
      readonly wants: string | null
      readonly verifiedAt: number | null
    })
  | (TokenRotation & { readonly type: "ROTATE" })
  /** The user no longer has a second factor, so the login is complete without a code. */
  | (TokenRotation & { readonly type: "ADMIT" })
  | (TokenRotation & { readonly type: "VERIFY" })
  /** A second factor was verified without the event VERIFY, for example when the user set it up. */
  | (Timed & { readonly type: "PROVE" })
  /** A code was refused, because too many wrong codes were entered for the account, in this login or in others. */
  | { readonly type: "LOCK"; readonly until: number }
  | { readonly type: "REVOKE"; readonly reason: string }
  | (Timed & { readonly type: "DUE" })

const rotate = (raisedByCode: boolean) =>
  assign<SessionContext, TokenRotation & SessionEvent, undefined, SessionEvent, never>({
    generation: ({ context }) => context.generation + 1,
    rotatedAt: ({ event }) => event.at,
    expiresAt: ({ event }) => event.expiresAt,
    device: ({ event }) => event.device,
    raisedByCode,
  })

const verified = assign<SessionContext, Timed & SessionEvent, undefined, SessionEvent, never>({
  verifiedAt: ({ event }) => event.at,
  admitted: true,
  lockedUntil: null,
})

const unlocked = assign<SessionContext, SessionEvent, undefined, SessionEvent, never>({ lockedUntil: null })

/** The events that every active state accepts. */
const active = {
  ROTATE: { actions: rotate(false) },
  REVOKE: {
    target: "Revoked",
    actions: {
      type: "events",
      params: ({ context, event }: { context: SessionContext; event: { readonly reason: string } }) => [
        {
          channel: `session:${context.userId}`,
          type: "session.logged_out",
          data: { session_id: context.id, reason: event.reason },
        },
      ],
    },
  },
} as const

/**
 * The events about codes, which every active state accepts. The account's count of wrong codes decides whether a code
 * is checked at all. So `VERIFY` is correct in the state `Locked` too: the account's lock has ended.
 */
const acceptsCode = {
  ...active,
  VERIFY: { target: "Verified", actions: [rotate(true), verified] },
  LOCK: {
    target: "Locked",
    actions: [
      assign<SessionContext, Extract<SessionEvent, { type: "LOCK" }>, undefined, SessionEvent, never>({
        lockedUntil: ({ event }) => event.until,
      }),
      {
        type: "events",
        params: ({ context, event }: { context: SessionContext; event: { readonly until: number } }) => [
          {
            channel: `session:${context.userId}`,
            type: "session.two_factor_locked",
            data: { session_id: context.id, locked_until: isoTime(event.until) },
          },
        ],
      },
    ],
  },
} as const

const expires = { guard: "hasExpired", target: "Expired" } as const

/**
 * One login session. The machine has no state and no timer for a verification that is too old: `isFresh` computes
 * that from the time, measured by the database's clock. Wrong codes are counted for the account, in the database. The
 * state `Locked` shows that the account was locked when a code of this session was refused. It takes nothing from the
 * session: a second factor that was verified before stays fresh until its grace period ends.
 */
export const sessionMachine = setup({
  types: {
    input: {} as { readonly id: string; readonly userId: string; readonly epoch: number },
    context: {} as SessionContext,
    events: {} as SessionEvent,
  },
  actions: effectActions,
  guards: {
    needsCode: ({ event }) => event.type === "OPEN" && event.wants !== null,
    lockHasEnded: ({ context, event }) => "at" in event && event.at >= (context.lockedUntil ?? 0),
    isAdmitted: ({ context }) => context.admitted,
    hasExpired: ({ context, event }) => "at" in event && event.at >= context.expiresAt,
  },
}).createMachine({
  id: "session",
  initial: "New",
  context: ({ input }) => ({
    ...input,
    generation: 0,
    rotatedAt: 0,
    raisedByCode: false,
    expiresAt: 0,
    verifiedAt: null,
    admitted: false,
    wrongCodes: 0,
    lockedUntil: null,
  }),
  states: {
    New: {
      on: {
        OPEN: [
          {
            guard: "needsCode",
            target: "Pending",
            actions: [
              rotate(false),
              {
                type: "events",
                params: ({ context, event }) => [
                  {
                    channel: `session:${context.userId}`,
                    type: "session.two_factor_required",
                    data: { session_id: context.id, provider: event.wants },
                  },
                ],
              },
            ],
          },
          {
            target: "Verified",
            actions: [rotate(false), assign({ admitted: true, verifiedAt: ({ event }) => event.verifiedAt })],
          },
        ],
      },
    },
    Pending: {
      on: {
        ...acceptsCode,
        ADMIT: { target: "Verified", actions: [rotate(false), assign({ admitted: true })] },
        DUE: expires,
      },
    },
    Verified: { on: { ...acceptsCode, PROVE: { actions: verified }, DUE: expires } },
    Locked: {
      on: {
        ...acceptsCode,
        ADMIT: { target: "Verified", actions: [rotate(false), assign({ admitted: true }), unlocked] },
        PROVE: { guard: "isAdmitted", target: "Verified", actions: verified },
        DUE: [
          expires,
          { guard: and(["lockHasEnded", "isAdmitted"]), target: "Verified", actions: unlocked },
          { guard: "lockHasEnded", target: "Pending", actions: unlocked },
        ],
      },
    },
    Revoked: { type: "final" },
    Expired: { type: "final" },
  },
})

/** Whether the second factor was verified less than `graceMs` ago. */
export const isFresh = (context: SessionContext, now: number, graceMs: number): boolean =>
  context.verifiedAt !== null && now < context.verifiedAt + graceMs
