import { Effect } from "effect"
import { Unauthorized } from "../../schema/errors.ts"
import { roleScopes } from "../../schema/scope.ts"
import { type Caller, Callers } from "../services/callers.ts"
import { type Claims, Tokens } from "../services/tokens.ts"
import type { RawRequest } from "./exchange.ts"
import type { Principal } from "./principal.ts"
import type { AuthScheme } from "./route.ts"

const bearer = /^Bearer +(\S+)$/i

const sessionPrincipal = (claims: Claims, caller: Caller): Principal | undefined =>
  caller.active && caller.epoch === claims.ep && !caller.revokedSessions.has(claims.sid)
    ? {
        userId: caller.id,
        role: caller.role,
        scopes: roleScopes[caller.role],
        via: "session",
        sessionId: claims.sid,
        emojiId: undefined,
        organizations: caller.organizations,
        twoFactor: caller.twoFactor,
      }
    : undefined

/** Finds who is asking. A token this process has verified before costs two map look-ups and no query. */
export const makeAuthenticate = Effect.gen(function* () {
  const tokens = yield* Tokens
  const callers = yield* Callers

  const byToken = Effect.fnUntraced(function* (token: string) {
    const claims =
      tokens.verifyCached(token, "access") ??
      (yield* tokens.verify(token, "access").pipe(Effect.catch(() => Effect.succeed(undefined))))
    if (claims === undefined) return undefined
    const caller = callers.remembered(claims.sub) ?? (yield* callers.find(claims.sub))
    return caller === undefined ? undefined : sessionPrincipal(claims, caller)
  })

  return Effect.fnUntraced(function* (scheme: AuthScheme, request: RawRequest) {
    const token = bearer.exec(request.headers["authorization"] ?? "")?.[1]
    const principal = token === undefined ? undefined : yield* byToken(token)
    if (principal !== undefined) return principal
    if (scheme === "optional") return null
    return yield* new Unauthorized({})
  })
})
