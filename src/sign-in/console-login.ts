import { Effect } from "effect"
import { Forbidden, NotFound } from "../../schema/errors.ts"
import { BrowserCookies } from "../accounts/sessions/browser-cookies.ts"
import { BrowserSessions } from "../accounts/sessions/browser-sessions.ts"
import { Sessions } from "../accounts/sessions/sessions.ts"

/**
 * A login of its own for the console in a browser where a mailed link has logged somebody in. The cookie's login stays as
 * it is: two holders of one refresh token would end each other.
 */
export const logInFromBrowser = Effect.fnUntraced(function* (headers: Readonly<Record<string, string>>) {
  if (headers["sec-fetch-site"] !== "same-origin") {
    return yield* new Forbidden({ error: "Only a page of this site may ask for this." })
  }
  const { sessionToken } = (yield* BrowserCookies).read(headers)
  const found = yield* BrowserSessions.use((sessions) => sessions.find(sessionToken ?? ""))
  if (!found?.admitted) return yield* new NotFound({ error: "Nobody is logged in in this browser." })
  const sessions = yield* Sessions
  return yield* sessions.open(found.account, { verifiedAt: yield* sessions.findVerifiedAt(found.sessionId) })
})
