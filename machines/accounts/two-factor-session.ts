import { and, assign, or, setup } from "xstate"
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
  /** New tokens for a user with a second factor. */
  | (TokenRotation & { readonly type: "ROTATE" })
  /** New tokens for a user without a second factor. A login that waits for a code is complete without it. */
  | (TokenRotation & { readonly type: "ADMIT" })
  | (TokenRotation & { readonly type: "VERIFY" })
  /** A second factor was verified without the event VERIFY, for example when the user set it up. */
  | (Timed & { readonly type: "PROVE" })
  /** A code was refused, because too many wrong codes were entered for the account, in this login or in others. */
  | { readonly type: "LOCK"; readonly until: number }
  | { readonly type: "REVOKE"; readonly reason: string }
  /** The user has a second factor now. Sessions that never verified one cannot do sensitive operations any more. */
  | { readonly type: "FACTOR_ENABLED" }
  /** The user has no second factor any more, so no code is required. */
  | { readonly type: "FACTOR_DISABLED" }
  /** A deadline has passed. `graceMs` is how long a verification is recent enough for sensitive operations. */
  | (Timed & { readonly type: "DUE"; readonly graceMs: number })

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
  stale: null,
})

const unlocked = assign<SessionContext, SessionEvent, undefined, SessionEvent, never>({ lockedUntil: null })

const stale = assign<SessionContext, SessionEvent, undefined, SessionEvent, never>({
  lockedUntil: null,
  stale: ({ context }) => ({ verifiedAt: context.verifiedAt }),
})

/** Without a second factor, the login is complete and an earlier verification has no meaning. */
const released = assign<SessionContext, SessionEvent, undefined, SessionEvent, never>({
  admitted: true,
  verifiedAt: null,
  lockedUntil: null,
  stale: null,
})

const tell = (type: string) =>
  ({
    type: "events",
    params: ({ context }: { context: SessionContext }) => [
      { channel: `session:${context.userId}`, type, data: { session_id: context.id } },
    ],
  }) as const
const tellVerified = tell("session.verified")
const tellStale = tell("session.two_factor_stale")

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
  VERIFY: { target: "Verified", actions: [rotate(true), verified, tellVerified] },
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

/** Whether the second factor was verified less than `graceMs` ago. */
export const isFresh = (context: SessionContext, now: number, graceMs: number): boolean =>
  context.verifiedAt !== null && now < context.verifiedAt + graceMs

const expires = { guard: "hasExpired", target: "Expired" } as const

/**
 * One login session. `Stale` means that sensitive operations require a new code: the grace period of the last code has
 * ended, or the user enabled two-factor authentication after this login. The API decides by the time (`isFresh`), so a
 * late deadline changes no answer. Wrong codes are counted for the account, in the database. The state `Locked` shows
 * that the account was locked when a code of this session was refused. It takes nothing from the session: a second
 * factor that was verified before stays fresh until its grace period ends.
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
    isNeverVerified: ({ context }) => context.verifiedAt === null,
    graceHasEnded: ({ context, event }) =>
      event.type === "DUE" && context.verifiedAt !== null && !isFresh(context, event.at, event.graceMs),
    // The deadline was set before the end of the grace period, for example by a migration. A process whose clock is
    // slightly late must not take this for an early deadline.
    isEarly: ({ context, event }) => event.type === "DUE" && isFresh(context, event.at + 1000, event.graceMs),
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
        ADMIT: { target: "Verified", actions: [rotate(false), released, tellVerified] },
        DUE: expires,
      },
    },
    Verified: {
      on: {
        ...acceptsCode,
        ROTATE: [
          { guard: "isNeverVerified", target: "Stale", actions: [rotate(false), stale, tellStale] },
          active.ROTATE,
        ],
        ADMIT: { actions: [rotate(false), released] },
        VERIFY: { actions: [rotate(true), verified] },
        PROVE: { actions: verified },
        FACTOR_ENABLED: { guard: "isNeverVerified", target: "Stale", actions: [stale, tellStale] },
        FACTOR_DISABLED: { actions: released },
        DUE: [
          expires,
          { guard: "graceHasEnded", target: "Stale", actions: [stale, tellStale] },
          // Changes nothing, but stores the right deadline.
          { guard: "isEarly", actions: assign({}) },
        ],
      },
    },
    Stale: {
      on: {
        ...acceptsCode,
        ADMIT: { target: "Verified", actions: [rotate(false), released, tellVerified] },
        PROVE: { target: "Verified", actions: [verified, tellVerified] },
        FACTOR_DISABLED: { target: "Verified", actions: [released, tellVerified] },
        DUE: expires,
      },
    },
    Locked: {
      on: {
        ...acceptsCode,
        ADMIT: { target: "Verified", actions: [rotate(false), released, tellVerified] },
        PROVE: { guard: "isAdmitted", target: "Verified", actions: [verified, tellVerified] },
        FACTOR_DISABLED: { guard: "isAdmitted", target: "Verified", actions: [released, tellVerified] },
        DUE: [
          expires,
          {
            guard: and(["lockHasEnded", "isAdmitted", or(["isNeverVerified", "graceHasEnded"])]),
            target: "Stale",
            actions: [stale, tellStale],
          },
          {
            guard: and(["lockHasEnded", "isAdmitted"]),
            target: "Verified",
            actions: [unlocked, tellVerified],
          },
          { guard: "lockHasEnded", target: "Pending", actions: unlocked },
        ],
      },
    },
    Revoked: { type: "final" },
    Expired: { type: "final" },
  },
})
