import { Effect } from "effect"
import { oauthScopes, roleScopes } from "../../schema/accounts/scope.ts"
import { Unauthorized } from "../../schema/errors.ts"
import type { RawRequest } from "../http/endpoint.ts"
import type { Principal } from "../http/principal.ts"
import { invalidTokenChallenge } from "../http/response/challenge.ts"
import type { AuthScheme } from "../http/route.ts"
import { type ApiKeyCaller, ApiKeyCallerCache } from "./api-keys/api-key-caller-store.ts"
import { ApiKeyUses } from "./api-keys/api-key-use-store.ts"
import { type Caller, CallerCache } from "./caller-cache.ts"
import { SessionUses } from "./sessions/session-uses.ts"
import { type Claims, type TokenKind, Tokens } from "./sessions/tokens.ts"

const bearer = /^Bearer +(\S+)$/i

export const bearerToken = (headers: Readonly<Record<string, string>>): string | undefined =>
  bearer.exec(headers["authorization"] ?? "")?.[1]

const tokenPrincipal = (kind: TokenKind, claims: Claims, caller: Caller): Principal | undefined => {
  const isValid = caller.active && caller.epoch === claims.ep && !caller.revokedSessions.has(claims.sid)
  if (!isValid) return undefined
  const isOauth = kind === "oauth-access"
  return {
    userId: caller.id,
    role: caller.role,
    via: isOauth ? "oauth" : "session",
    scopes: isOauth ? oauthScopes : roleScopes[caller.role],
    sessionId: claims.sid,
    emojiId: isOauth ? claims.ext?.["emoji_id"] : undefined,
    organizations: caller.organizations,
    twoFactor: caller.twoFactor,
  }
}

const keyPrincipal = (key: ApiKeyCaller): Principal => ({
  userId: key.caller.id,
  role: key.caller.role,
  scopes: key.scopesFor(key.caller.role),
  limitedTo: key.scopes,
  via: "api_key",
  keyId: key.id,
  keyExpiresAt: key.expiresAt,
  keyIsSensitive: key.sensitive,
  sessionId: "",
  emojiId: undefined,
  organizations: key.caller.organizations,
  twoFactor: key.caller.twoFactor,
})

const invalidKey = "The API key is not valid: it is unknown, expired or deleted."

/** Why a presented token or key has no caller. */
const faults = {
  token: "The access token is not valid. Sign in again.",
  expired: "The access token has expired. Refresh it with POST /auth/token/refresh, or sign in again.",
  ended: "The session of the access token has ended. Sign in again.",
  key: invalidKey,
} as const
type Fault = keyof typeof faults

/** The error for a presented token that is not accepted. */
export const refuseToken = (error: string) =>
  new Unauthorized({ error, headers: { "WWW-Authenticate": invalidTokenChallenge(error) } })

const noSession =
  "This operation requires the access token of a sign-in session, not an API key or OAuth token."
const nothingSent = new Unauthorized({
  error: "Send an access token as Authorization: Bearer <token>, or an API key as X-Api-Key.",
})
const noTokenSent = new Unauthorized({
  error: "Send the access token of a sign-in session as Authorization: Bearer <token>.",
})

const refusal = (
  scheme: AuthScheme,
  found: Principal | Fault | undefined,
  { headers }: Pick<RawRequest, "headers">,
): Unauthorized => {
  const hasKey = (headers["x-api-key"] ?? "") !== ""
  if (scheme === "two_factor") {
    if (typeof found === "object" || found === "key") return refuseToken(noSession)
    if (found !== undefined) return refuseToken(faults[found])
    return hasKey ? new Unauthorized({ error: noSession }) : noTokenSent
  }
  if (typeof found === "string")
    return refuseToken(
      hasKey ? `${faults[found]} The API key in X-Api-Key is not valid either.` : faults[found],
    )
  return hasKey ? new Unauthorized({ error: invalidKey }) : nothingSent
}

const isAccepted = (scheme: AuthScheme, principal: Principal): boolean =>
  scheme !== "two_factor" || principal.via === "session"

/**
 * Creates the function that finds the caller of a request. If this process has cached the token or API key and its
 * user, the function runs no query.
 */
export const makeAuthenticate = Effect.gen(function* () {
  const tokens = yield* Tokens
  const callers = yield* CallerCache
  const apiKeys = yield* ApiKeyCallerCache
  const sessionUses = yield* SessionUses

  const tokenCaller = (kind: TokenKind, claims: Claims, caller: Caller): Principal | undefined => {
    const principal = tokenPrincipal(kind, claims, caller)
    if (principal?.via === "session") sessionUses.note(principal.sessionId)
    return principal
  }
  const keyUses = yield* ApiKeyUses

  const verify = (token: string, kind: TokenKind) =>
    tokens.verify(token, kind).pipe(
      Effect.map((claims) => ({ kind, claims })),
      Effect.catch(({ reason }) =>
        Effect.succeed(reason === "expired" ? ("expired" as const) : ("token" as const)),
      ),
    )
  const rememberedAs = (token: string, kind: TokenKind) => {
    const claims = tokens.verifyCached(token, kind)
    return claims === undefined ? undefined : { kind, claims }
  }
  const remembered = (token: string) => rememberedAs(token, "access") ?? rememberedAs(token, "oauth-access")

  const keyCaller = (key: ApiKeyCaller | undefined): Principal | undefined => {
    if (!key?.caller.active) return undefined
    keyUses.note(key.id)
    return keyPrincipal(key)
  }

  /**
   * Finds the caller synchronously. Returns undefined if the caches do not have all data, if the user is not active,
   * or if the session of the token has ended.
   */
  const recall = (token: string): Principal | undefined => {
    if (token.startsWith("svc_")) return keyCaller(apiKeys.remembered(token))
    const found = remembered(token)
    const caller = found && callers.remembered(found.claims.sub)
    return caller && tokenCaller(found.kind, found.claims, caller)
  }

  const byToken = Effect.fnUntraced(function* (token: string) {
    const asAccess = remembered(token) ?? (yield* verify(token, "access"))
    const found = asAccess === "token" ? yield* verify(token, "oauth-access") : asAccess
    if (typeof found === "string") return found
    const { claims, kind } = found
    const caller = callers.remembered(claims.sub) ?? (yield* callers.find(claims.sub))
    return (caller && tokenCaller(kind, claims, caller)) ?? ("ended" as const)
  })

  const byApiKey = Effect.fnUntraced(function* (text: string) {
    return keyCaller(apiKeys.remembered(text) ?? (yield* apiKeys.find(text))) ?? ("key" as const)
  })

  const find = Effect.fnUntraced(function* (scheme: AuthScheme, request: Pick<RawRequest, "headers">) {
    const token = bearerToken(request.headers)
    const byBearer =
      token === undefined ? undefined : yield* token.startsWith("svc_") ? byApiKey(token) : byToken(token)
    const apiKey = request.headers["x-api-key"]
    if (typeof byBearer === "object" || apiKey === undefined || apiKey === "" || scheme === "two_factor")
      return byBearer
    const byKey = yield* byApiKey(apiKey.trim())
    return typeof byKey === "object" ? byKey : byBearer
  })

  const findOrFail = Effect.fnUntraced(function* (scheme: AuthScheme, request: Pick<RawRequest, "headers">) {
    const found = yield* find(scheme, request)
    if (typeof found === "object" && isAccepted(scheme, found)) return found
    if (scheme === "optional") return null
    return yield* refusal(scheme, found, request)
  })

  return (scheme: AuthScheme, request: Pick<RawRequest, "headers">) => {
    const token = bearerToken(request.headers)
    const known = token === undefined ? undefined : recall(token)
    return known !== undefined && isAccepted(scheme, known)
      ? Effect.succeed(known)
      : findOrFail(scheme, request)
  }
})
