import { createHash, randomUUID, timingSafeEqual } from "node:crypto"
import { Clock, Context, Data, Effect, Layer } from "effect"
import type { Written } from "../../../actors/operation.ts"
import type { Unavailable } from "../../../schema/errors.ts"
import type { OauthClient } from "../../../schema/sign-in/oauth-client.ts"
import { CallerCache } from "../../accounts/caller-cache.ts"
import type { BrowserSession } from "../../accounts/sessions/browser-sessions.ts"
import { type Claims, Tokens } from "../../accounts/sessions/tokens.ts"
import { AppConfig } from "../../config/read-config.ts"
import type { WriteOutcome } from "../../postgres/guarded-write.ts"
import { refuseLate } from "../../postgres/request-time.ts"
import { makeAuthorizationCodeStore, type Redemption, type Rotation } from "./authorization-code-store.ts"
import type { AuthorizationRequest } from "./authorization-request.ts"

const codeSeconds = 60
const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/

/** The code or refresh token is invalid, or was issued to another client. */
export class GrantInvalid extends Data.TaggedError("GrantInvalid")<{ readonly error: string }> {}

export interface GrantTokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly token_type: "SvcAccessToken"
  readonly expires_in: number
  readonly scope: "svc"
}

interface Grant {
  readonly id: string
  readonly userId: string
  readonly epoch: number
  readonly clientId: string
  readonly emojiId: string
  readonly generation: number
}

/**
 * The result of an exchange. `grant` is what is known about the grant before the exchange, and `issuedAt` is the time of
 * the tokens in seconds since 1970, so a retry of the request makes the same tokens.
 */
type Exchanged = WriteOutcome<
  { readonly outcome: Redemption } | { readonly done: Rotation },
  { readonly grant: Grant; readonly issuedAt: number }
>

/** Tokens for OAuth clients always carry this role, so that a client cannot see which users are administrators. */
const tokenRole = "User"

const invalid = (error: string) => new GrantInvalid({ error })
const codeUsed = () => invalid("The code was already used. The tokens issued for it are revoked.")
const refusal = "The refresh token is invalid, already used or expired."
const nowSeconds = Effect.map(Clock.currentTimeMillis, (now) => Math.floor(now / 1000))

const matchesChallenge = (challenge: string, verifier: string): boolean => {
  if (!verifierPattern.test(verifier)) return false
  const given = createHash("sha256").update(verifier).digest("base64url")
  return given.length === challenge.length && timingSafeEqual(Buffer.from(given), Buffer.from(challenge))
}

/** Issues the codes of the authorization-code flow, exchanges them for tokens, and refreshes these tokens. */
export class AuthorizationCodes extends Context.Service<
  AuthorizationCodes,
  {
    issue(
      request: AuthorizationRequest,
      session: BrowserSession,
      emojiId: string,
    ): Effect.Effect<string, Unavailable>
    redeem(
      client: OauthClient,
      given: {
        readonly code: string
        readonly redirectUri: string
        readonly verifier: string | undefined
      },
    ): Effect.Effect<Written<Exchanged>, GrantInvalid | Unavailable>
    refresh(
      client: OauthClient,
      refreshToken: string,
    ): Effect.Effect<Written<Exchanged>, GrantInvalid | Unavailable>
    /** Makes the tokens of an exchange. Fails if the code or refresh token was already used. */
    exchanged(outcome: Exchanged): Effect.Effect<GrantTokens, GrantInvalid>
  }
>()("directory/AuthorizationCodes") {
  static readonly layer = Layer.effect(
    AuthorizationCodes,
    Effect.gen(function* () {
      const config = yield* AppConfig
      const store = yield* makeAuthorizationCodeStore
      const tokens = yield* Tokens
      const callers = yield* CallerCache

      const answer = Effect.fnUntraced(function* (grant: Grant, issuedAt: number) {
        const claims = { sub: grant.userId, sid: grant.id, ep: grant.epoch, role: tokenRole }
        const ext = { client_id: grant.clientId, emoji_id: grant.emojiId }
        const response: GrantTokens = {
          access_token: yield* tokens.sign(
            { ...claims, ext },
            { kind: "oauth-access", ttlSeconds: config.accessTokenSeconds, issuedAt },
          ),
          refresh_token: yield* tokens.sign(
            { ...claims, ext: { ...ext, generation: String(grant.generation) } },
            { kind: "oauth-refresh", ttlSeconds: config.refreshTokenSeconds, issuedAt },
          ),
          token_type: "SvcAccessToken",
          expires_in: config.accessTokenSeconds,
          scope: "svc",
        }
        return response
      })

      const verify = (token: string, kind: "oauth-code" | "oauth-refresh", error: string) =>
        tokens.verify(token, kind).pipe(Effect.catchTag("TokenInvalid", () => Effect.fail(invalid(error))))

      const checkCode = (claims: Claims, redirectUri: string, verifier: string | undefined) => {
        const { code_challenge: challenge, redirect_uri } = claims.ext ?? {}
        if (redirect_uri !== redirectUri)
          return invalid("redirect_uri does not match the redirect_uri of the authorization request.")
        if (challenge === undefined) {
          return verifier === undefined
            ? undefined
            : invalid("code_verifier is not allowed: the authorization request had no code_challenge.")
        }
        if (verifier === undefined)
          return invalid("code_verifier is missing: the authorization request had a code_challenge.")
        return matchesChallenge(challenge, verifier)
          ? undefined
          : invalid("code_verifier does not match the code_challenge of the authorization request.")
      }

      const issue = Effect.fnUntraced(function* (
        { challenge, client, redirectUri }: AuthorizationRequest,
        { account, sessionId }: BrowserSession,
        emojiId: string,
      ) {
        const jti = randomUUID()
        yield* store.add({ jti, clientId: client.client_id, userId: account.id, seconds: codeSeconds })
        return yield* tokens.sign(
          {
            sub: account.id,
            sid: sessionId,
            ep: account.epoch,
            role: tokenRole,
            jti,
            ext: {
              client_id: client.client_id,
              redirect_uri: redirectUri,
              emoji_id: emojiId,
              ...(challenge === undefined ? {} : { code_challenge: challenge }),
            },
          },
          { kind: "oauth-code", ttlSeconds: codeSeconds },
        )
      })

      const redeem: AuthorizationCodes["Service"]["redeem"] = Effect.fnUntraced(function* (client, given) {
        const claims = yield* verify(given.code, "oauth-code", "The code is invalid or has expired.")
        const emojiId = claims.ext?.["emoji_id"] ?? ""
        if (claims.ext?.["client_id"] !== client.client_id) {
          return yield* invalid("The code was issued to another client.")
        }
        const fault = checkCode(claims, given.redirectUri, given.verifier)
        if (fault !== undefined) return yield* fault
        const caller = yield* callers.find(claims.sub)
        const isEnded =
          !caller?.active || caller.epoch !== claims.ep || caller.revokedSessions.has(claims.sid)
        if (isEnded) {
          return yield* invalid("The user has signed out since the code was issued.")
        }
        const id = randomUUID()
        const grant: Grant = {
          id,
          userId: claims.sub,
          clientId: client.client_id,
          emojiId,
          epoch: claims.ep,
          generation: 1,
        }
        const keep = { grant, issuedAt: yield* nowSeconds }
        const jti = claims.jti ?? id
        const written = yield* store.redeem(jti, { ...grant, seconds: config.refreshTokenSeconds }, keep)
        const outcome = written.outcome.rows[0]?.outcome
        if (outcome === "unknown") return yield* codeUsed()
        if (outcome !== "reused") return written
        // The grant is revoked, because one of the two requests was not made by the client. A delayed request can be an
        // earlier attempt of the client itself.
        yield* refuseLate
        const revoked = yield* store
          .revokeGrantOfCode(jti, client.client_id, keep)
          .pipe(callers.invalidating(claims.sub))
        return revoked.outcome.rows.length > 0 ? revoked : yield* codeUsed()
      })

      const refresh: AuthorizationCodes["Service"]["refresh"] = Effect.fnUntraced(
        function* (client, refreshToken) {
          const claims = yield* verify(refreshToken, "oauth-refresh", refusal)
          const grant: Grant = {
            id: claims.sid,
            userId: claims.sub,
            clientId: client.client_id,
            emojiId: claims.ext?.["emoji_id"] ?? "",
            epoch: claims.ep,
            generation: Number(claims.ext?.["generation"]),
          }
          const keep = { grant, issuedAt: yield* nowSeconds }
          const written = yield* store.rotateGrant({ ...grant, seconds: config.refreshTokenSeconds }, keep)
          const outcome = written.outcome.rows[0]?.done.outcome
          if (outcome === "gone") return yield* invalid(refusal)
          if (outcome !== "reused") return written
          // A token that is used again ends the grant. A delayed request is older than the refreshes after it, so it is
          // no sign of a stolen token.
          yield* refuseLate
          const revoked = yield* store
            .revokeGrant(grant.id, client.client_id, keep)
            .pipe(callers.invalidating(claims.sub))
          return revoked.outcome.rows.length > 0 ? revoked : yield* invalid(refusal)
        },
      )

      const exchanged = Effect.fnUntraced(function* ({ keep: { grant, issuedAt }, rows }: Exchanged) {
        const row = rows[0]!
        const done = "done" in row ? row.done : undefined
        const outcome = "done" in row ? row.done.outcome : row.outcome
        if (outcome === "reused") return yield* done === undefined ? codeUsed() : invalid(refusal)
        if (done === undefined) return yield* answer(grant, issuedAt)
        const { emoji_id: emojiId, epoch, generation } = done
        return yield* answer({ ...grant, emojiId, epoch, generation }, issuedAt)
      })

      return AuthorizationCodes.of({ issue, redeem, refresh, exchanged })
    }),
  )
}
