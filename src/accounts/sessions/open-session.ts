import { randomUUID } from "node:crypto"
import { Clock, Data, Effect } from "effect"
import { apart, unchanged } from "../../../actors/operation.ts"
import { Publisher } from "../../../actors/ports.ts"
import { SessionActors } from "../../../actors/two-factor-session.ts"
import { currentDevice } from "../../http/request/device.ts"
import { Accounts, type SessionUser } from "../account-store.ts"
import { CallerCache } from "../caller-cache.ts"
import { SecurityLog } from "../security-log/security-log.ts"
import { SecondFactors } from "../two-factor/second-factors.ts"
import { type Issued, makeSessionTokens } from "./session-tokens.ts"
import { makeSessionTurn } from "./session-turn.ts"

/**
 * The maximum number of complete logins of a user. The same maximum applies to logins that wait for a two-factor code.
 * A new login ends the least recently updated sessions above this number.
 */
const maxSessions = 200

/** How a session is opened. */
export interface OpenedBy {
  readonly method:
    | "password"
    | "magic_link"
    | "registration"
    | "password_change"
    | "password_reset"
    | "console"
  /** No code is required, because the second factor was verified at this time. */
  readonly verifiedAt?: number | undefined
}

/**
 * A session that is opened after another change was committed, for example a registration. It is stored with that
 * change, so a retry opens the same session with the same tokens.
 */
export interface PlannedSession {
  readonly id: string
  /** In seconds since 1970. */
  readonly issuedAt: number
}

export const planSession: Effect.Effect<PlannedSession> = Effect.map(Clock.currentTimeMillis, (now) => ({
  id: randomUUID(),
  issuedAt: Math.floor(now / 1000),
}))

export interface Opened extends Issued {
  readonly sessionId: string
  readonly method: OpenedBy["method"]
}

/** The session was opened by an earlier attempt of the request. */
class AlreadyOpen extends Data.TaggedError("AlreadyOpen") {}

/** Creates the functions that open sessions. */
export const makeOpenSession = Effect.gen(function* () {
  const actors = yield* SessionActors
  const accounts = yield* Accounts
  const callers = yield* CallerCache
  const factors = yield* SecondFactors
  const publisher = yield* Publisher
  const securityLog = yield* SecurityLog
  const turn = yield* makeSessionTurn
  const { issue, issued, renewal } = yield* makeSessionTokens

  /**
   * Sends the code that the login requires. If no SMS can be sent, the login still waits for a code. After a refusal
   * by the rate limit, the user can enter the code of an earlier SMS or a backup code, or request another SMS later.
   */
  const sendCode = (userId: string) =>
    apart(factors.sendSms(userId, { confirmedOnly: true })).pipe(
      Effect.catchTags({ TooManyRequests: () => Effect.void, Unprocessable: () => Effect.void }),
    )

  const openAs = Effect.fnUntraced(function* (
    user: SessionUser,
    { id, issuedAt }: { readonly id: string; readonly issuedAt?: number },
    { method, ...facts }: OpenedBy,
  ) {
    const device = yield* currentDevice
    const verifiedAt = facts.verifiedAt ?? null
    const wants = verifiedAt === null ? (user.providers[0] ?? null) : null
    const admitted = wants === null
    const tokens = yield* issue(user, { id, epoch: user.epoch, generation: 1, admitted }, issuedAt)
    const opened: Opened = { ...tokens, sessionId: id, method }
    // The code is sent before the session is committed, so that a retry cannot find a session without a code.
    if (wants === "SMS" && (issuedAt === undefined || (yield* actors.find(id)) === undefined))
      yield* sendCode(user.id)
    return yield* turn(
      id,
      ({ snapshot }, now) =>
        snapshot.value === "New"
          ? Effect.succeed({ type: "OPEN", wants, verifiedAt, ...renewal(now, admitted, device) } as const)
          : Effect.fail(new AlreadyOpen()),
      { create: { id, userId: user.id, epoch: user.epoch }, outcome: () => opened },
    ).pipe(
      Effect.map(({ written }) => written),
      Effect.catchTags({
        AlreadyOpen: () => Effect.succeed(unchanged(opened)),
        Unauthorized: (failure) => Effect.die(failure),
      }),
    )
  })

  const opened = Effect.fnUntraced(function* (session: Opened) {
    const { method, sessionId, userId } = session
    yield* securityLog.record({
      event: session.tokens.requires_2fa === undefined ? "login.succeeded" : "login.code_required",
      userId,
      actorId: userId,
      details: { method, session_id: sessionId },
    })
    const old = yield* accounts.endOldSessions(userId, maxSessions).pipe(callers.invalidating(userId))
    // The statement has ended these sessions in the database. Their actors in memory still have the earlier state,
    // so these actors are removed.
    for (const id of old?.session_ids ?? []) actors.passivate(id)
    if (old !== undefined) publisher.moved(old.events)
    return yield* issued(session)
  })

  return {
    open: (user: SessionUser, facts: OpenedBy) => openAs(user, { id: randomUUID() }, facts),
    opened,
    openPlanned: (user: SessionUser, planned: PlannedSession, facts: OpenedBy) =>
      Effect.flatMap(apart(openAs(user, planned, facts)), ({ outcome }) => opened(outcome)),
  }
})
