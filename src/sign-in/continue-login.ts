import { Effect } from "effect"
import type { TokenResponse } from "../../schema/accounts/session.ts"
import { BrowserCookies } from "../accounts/sessions/browser-cookies.ts"
import { AppConfig } from "../config/read-config.ts"
import { Reply } from "../http/response/reply.ts"

export const noStore = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" }

/**
 * Sets the session cookie and redirects. If a two-factor code is required, the redirect leads to the page for the
 * code. Otherwise it leads to the next page.
 */
export const continueLogin = Effect.fnUntraced(function* (
  tokens: Pick<TokenResponse, "refresh_token" | "requires_2fa">,
  paths: { readonly next: string; readonly code: string },
  further: ReadonlyArray<string> = [],
) {
  const { refreshTokenSeconds } = yield* AppConfig
  const browsers = yield* BrowserCookies
  const cookies = [
    browsers.cookie("session", tokens.refresh_token, refreshTokenSeconds),
    browsers.forget("handed"),
    ...further,
  ]
  const to = tokens.requires_2fa === undefined ? paths.next : paths.code
  return Reply.redirect(to, { ...noStore, "Set-Cookie": cookies }, 303)
})
