import { Effect } from "effect"
import type { RawRequest } from "../../http/endpoint.ts"
import type { Principal } from "../../http/principal.ts"
import { bearerToken } from "../authenticate.ts"
import { Tokens } from "./tokens.ts"

/**
 * Makes a function that finds the caller of a request by an access token that has not expired, whether or not its
 * session still exists. Such a caller has no scopes: it can only get the response of a request that it has completed.
 */
export const makeFindEndedCaller = Effect.gen(function* () {
  const tokens = yield* Tokens
  return (request: Pick<RawRequest, "headers">): Effect.Effect<Principal | undefined> => {
    const token = bearerToken(request.headers)
    if (token === undefined || token.startsWith("svc_")) return Effect.succeed(undefined)
    return tokens.verify(token, "access").pipe(
      Effect.map(
        ({ sid, sub }): Principal => ({
          userId: sub,
          role: "User",
          via: "session",
          scopes: new Set(),
          sessionId: sid,
          emojiId: undefined,
          organizations: new Map(),
          twoFactor: false,
        }),
      ),
      Effect.catch(() => Effect.succeed(undefined)),
    )
  }
})
