import { Effect } from "effect"
import { Publisher } from "../../../actors/ports.ts"
import type { TokenResponse } from "../../../schema/accounts/session.ts"
import type { SessionContext } from "../../../schema/accounts/session-snapshot.ts"
import { AppConfig } from "../../config/read-config.ts"
import type { Device } from "../../http/request/device.ts"
import { Accounts, type SessionUser } from "../account-store.ts"
import { SecurityLog } from "../security-log/security-log.ts"
import { type RefreshTokenFacts, RefreshTokens } from "./refresh-tokens.ts"
import { refused, revokeFamily } from "./session-turn.ts"
import { Tokens } from "./tokens.ts"

/**
 * After a refresh, the previous refresh token stays valid until the new one is first used, but at most for this time.
 * A client may refresh several times concurrently, and a client whose response was lost must try again. Using the new
 * token creates the next generation, so that the previous token is then two generations old.
 */
const rotationGraceMs = 60_000
/** A login that waits for its two-factor code expires after this time, which is shorter than for a complete login. */
const pendingSeconds = 3600

/** The outcome of a request that issues tokens. A retry of the request returns the same tokens. */
export interface Issued {
  readonly userId: string
  /** Whether the user's clients ask the user now to set up a second factor. */
  readonly prompts: boolean
  readonly tokens: TokenResponse
}

interface Loaded {
  readonly snapshot: { readonly value: string; readonly context: SessionContext }
}

// `context` may be cached and outdated. Generations only increase, so a token that is older than the cached
// generation is also older than the stored one.
export const tokenState = ({ generation }: RefreshTokenFacts, context: SessionContext, now: number) => {
  if (generation === context.generation) return "current"
  if (generation > context.generation) return "unknown"
  return generation === context.generation - 1 && now - context.rotatedAt <= rotationGraceMs
    ? "predecessor"
    : "reused"
}

/** Creates the functions with which sessions read refresh tokens and issue tokens. */
export const makeSessionTokens = Effect.gen(function* () {
  const config = yield* AppConfig
  const accounts = yield* Accounts
  const tokens = yield* Tokens
  const refreshTokens = yield* RefreshTokens
  const publisher = yield* Publisher
  const securityLog = yield* SecurityLog

  const renewal = (now: number, admitted: boolean, device: Device) => ({
    at: now,
    expiresAt: now + (admitted ? config.refreshTokenSeconds : pendingSeconds) * 1000,
    device,
  })

  /**
   * Records the time when the user's clients ask the user to enable two-factor authentication, at most once in 30
   * days. The tokens are issued even if this fails; the next refresh tries again.
   */
  const recordPrompt = (userId: string) =>
    accounts.recordPrompt(userId).pipe(
      publisher.changing({ users: [userId] }),
      Effect.catch((failure) => Effect.logWarning("two-factor prompt not recorded", failure)),
    )

  /**
   * Makes the tokens of a generation of a session. They are made before the session is committed, and they are valid
   * after it.
   */
  const issue = Effect.fnUntraced(function* (
    user: SessionUser,
    { admitted, epoch, generation, id }: Pick<SessionContext, "admitted" | "epoch" | "generation" | "id">,
    issuedAt?: number,
  ) {
    const [wants] = user.providers
    const made: TokenResponse = {
      access_token: yield* tokens.sign(
        { sub: user.id, sid: id, ep: epoch, role: user.role },
        { kind: admitted ? "access" : "pending", ttlSeconds: config.accessTokenSeconds, issuedAt },
      ),
      refresh_token: refreshTokens.make({ sessionId: id, generation }),
      expires_in: config.accessTokenSeconds,
      has_password: user.has_password,
      ...(admitted || wants === undefined ? {} : { requires_2fa: wants }),
    }
    const prompts = user.prompt_is_due && user.providers.length === 0
    return { userId: user.id, prompts, tokens: made } satisfies Issued
  })

  /** Returns the tokens after the commit. */
  const issued = ({ prompts, tokens: made, userId }: Issued) =>
    Effect.as(prompts ? recordPrompt(userId) : Effect.void, made)

  /** Returns the account of the session. Fails if the session or the account is no longer valid. */
  const accountOf = Effect.fnUntraced(function* ({ snapshot }: Loaded, now: number) {
    const { context, value } = snapshot
    if (value === "Revoked" || value === "Expired" || now >= context.expiresAt) return yield* refused()
    const account = yield* accounts.find({ id: context.userId })
    if (account === undefined || !account.active || account.epoch !== context.epoch) {
      return yield* refused()
    }
    return account
  })

  const read = (refreshToken: string) => {
    const facts = refreshTokens.read(refreshToken)
    return facts === undefined ? Effect.fail(refused()) : Effect.succeed(facts)
  }

  /** Records that a session was ended because one of its refresh tokens was used a second time. Fails. */
  const refuseReused = (userId: string, session_id: string) =>
    securityLog
      .record({ event: "session.ended", userId, details: { reason: revokeFamily.reason, session_id } })
      .pipe(
        Effect.andThen(
          Effect.fail(
            refused("The refresh token was already used, so its session was ended. Sign in again."),
          ),
        ),
      )

  return { renewal, issue, issued, accountOf, read, refuseReused }
})
