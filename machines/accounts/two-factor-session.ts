import { assign, setup } from "xstate"
import { effectActions } from "../effects.ts"

/** Wrong codes in a row before the session takes no more for a while. */
export const maxWrongCodes = 5

export interface SessionContext {
  readonly id: string
  readonly userId: string
  /** The user's token epoch at login: a session of an older epoch is over. */
  readonly epoch: number
  /** Which refresh token of the family counts: tokens are numbered, this is the newest. */
  readonly generation: number
  readonly rotatedAt: number
  /** A code raised what the session may do: its predecessor token must not share in that. */
  readonly raisedByCode: boolean
  readonly expiresAt: number
  /** When a second factor was last proven; null when it never was. */
  readonly verifiedAt: number | null
  /** The login is complete: no code is needed any more, or none ever was. */
  readonly admitted: boolean
  readonly wrongCodes: number
  readonly lockedUntil: number | null
}

interface Moment {
  readonly at: number
}
interface Renewal extends Moment {
  readonly expiresAt: number
}

type SessionEvent =
  | (Renewal & {
      readonly type: "OPEN"
      /** The provider whose code the login still needs. */
      readonly wants: string | null
      readonly verifiedAt: number | null
    })
  | (Renewal & { readonly type: "ROTATE" })
  /** The user's second factor went away: the login is complete without a code. */
  | (Renewal & { readonly type: "ADMIT" })
  | (Renewal & { readonly type: "VERIFY" })
  /** A second factor was proven in another way, such as by setting it up. */
  | (Moment & { readonly type: "PROVE" })
  | (Moment & { readonly type: "WRONG_CODE"; readonly lockUntil: number })
  | { readonly type: "REVOKE"; readonly reason: string }
  | (Moment & { readonly type: "DUE" })

const rotate = (raisedByCode: boolean) =>
  assign<SessionContext, Renewal & SessionEvent, undefined, SessionEvent, never>({
    generation: ({ context }) => context.generation + 1,
    rotatedAt: ({ event }) => event.at,
    expiresAt: ({ event }) => event.expiresAt,
    raisedByCode,
  })

const verified = assign<SessionContext, Moment & SessionEvent, undefined, SessionEvent, never>({
  verifiedAt: ({ event }) => event.at,
  admitted: true,
  wrongCodes: 0,
  lockedUntil: null,
})

const unlocked = assign<SessionContext, SessionEvent, undefined, SessionEvent, never>({
  wrongCodes: 0,
  lockedUntil: null,
})

const revoke = {
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
} as const

const verify = { target: "Verified", actions: [rotate(true), verified] } as const

const wrongCode = [
  {
    guard: "lastTry",
    target: "Locked",
    actions: assign<
      SessionContext,
      Extract<SessionEvent, { type: "WRONG_CODE" }>,
      undefined,
      SessionEvent,
      never
    >({
      wrongCodes: maxWrongCodes,
      lockedUntil: ({ event }) => event.lockUntil,
    }),
  },
  {
    actions: assign<SessionContext, SessionEvent, undefined, SessionEvent, never>({
      wrongCodes: ({ context }) => context.wrongCodes + 1,
    }),
  },
] as const

/**
 * One login. Whether a Verified session is stale is a question of time (`isFresh`), asked with the database's clock,
 * so it needs no state and no timer of its own.
 */
export const sessionMachine = setup({
  types: {
    input: {} as { readonly id: string; readonly userId: string; readonly epoch: number },
    context: {} as SessionContext,
    events: {} as SessionEvent,
  },
  actions: effectActions,
  guards: {
    wantsCode: ({ event }) => event.type === "OPEN" && event.wants !== null,
    lastTry: ({ context }) => context.wrongCodes + 1 >= maxWrongCodes,
    lockOver: ({ context, event }) => "at" in event && event.at >= (context.lockedUntil ?? 0),
    lockOverAdmitted: ({ context, event }) =>
      "at" in event && event.at >= (context.lockedUntil ?? 0) && context.admitted,
    isOver: ({ context, event }) => "at" in event && event.at >= context.expiresAt,
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
            guard: "wantsCode",
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
        ROTATE: { actions: rotate(false) },
        ADMIT: { target: "Verified", actions: [rotate(false), assign({ admitted: true })] },
        VERIFY: verify,
        WRONG_CODE: wrongCode,
        REVOKE: revoke,
        DUE: { guard: "isOver", target: "Expired" },
      },
    },
    Verified: {
      on: {
        ROTATE: { actions: rotate(false) },
        VERIFY: verify,
        PROVE: { actions: verified },
        WRONG_CODE: wrongCode,
        REVOKE: revoke,
        DUE: { guard: "isOver", target: "Expired" },
      },
    },
    Locked: {
      on: {
        ROTATE: { actions: rotate(false) },
        ADMIT: { target: "Verified", actions: [rotate(false), assign({ admitted: true }), unlocked] },
        REVOKE: revoke,
        DUE: [
          { guard: "isOver", target: "Expired" },
          { guard: "lockOverAdmitted", target: "Verified", actions: unlocked },
          { guard: "lockOver", target: "Pending", actions: unlocked },
        ],
      },
    },
    Revoked: { type: "final" },
    Expired: { type: "final" },
  },
})

export const isFresh = (context: SessionContext, now: number, graceMs: number): boolean =>
  context.verifiedAt !== null && now < context.verifiedAt + graceMs
