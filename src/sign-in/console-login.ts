import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { Forbidden, NotFound } from "../../schema/errors.ts"
import { BrowserCookies } from "../accounts/sessions/browser-cookies.ts"
import { BrowserSessions } from "../accounts/sessions/browser-sessions.ts"
import { Sessions } from "../accounts/sessions/sessions.ts"

/**
 * Opens a separate session for the console in a browser that is already logged in by a cookie. The console does not
 * share the session of the cookie, because two clients that use the same refresh token would invalidate each other's
 * token.
 */
export const logInFromBrowser = Effect.fnUntraced(function* (headers: Readonly<Record<string, string>>) {
  if (headers["sec-fetch-site"] !== "same-origin") {
    return yield* new Forbidden({ error: "This request is allowed only from a page of this site." })
  }
  const { sessionToken } = (yield* BrowserCookies).read(headers)
  const found = yield* BrowserSessions.use((sessions) => sessions.find(sessionToken ?? ""))
  if (!found?.admitted) return yield* new NotFound({ error: "This browser is not signed in. Sign in first." })
  const sessions = yield* Sessions
  const verifiedAt = yield* sessions.findVerifiedAt(found.sessionId)
  return yield* sessions.opened(
    yield* atMostOnce(sessions.open(found.account, { verifiedAt, method: "console" })),
  )
})
