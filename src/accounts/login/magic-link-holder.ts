import { Effect } from "effect"
import type { Browser } from "../sessions/browser-cookies.ts"
import { BrowserSessions } from "../sessions/browser-sessions.ts"
import type { LinkPurpose } from "./magic-link-store.ts"
import { MagicLinks } from "./magic-links.ts"

export interface LinkHolder {
  readonly userId: string
  readonly email: string
  readonly purpose: LinkPurpose | "token"
  readonly hasPassword: boolean
}

/** The name that pages show for an account: its email, or a fixed text if it has no email. */
export const nameOf = (email: string | null): string => email ?? "the account of this device"

/**
 * Finds the user of a token from a URL. The token belongs to an emailed link, or it is a refresh token that an
 * application put into the URL. Returns undefined if the token is not valid.
 */
export const findHolder = Effect.fnUntraced(function* (token: string) {
  const link = yield* MagicLinks.use((links) => links.inspect(token))
  if (link !== undefined) return link satisfies LinkHolder as LinkHolder
  const session = yield* BrowserSessions.use((sessions) => sessions.find(token))
  if (session === undefined) return undefined
  const { email, id, password_hash } = session.account
  const hasPassword = password_hash !== null
  return { userId: id, email: nameOf(email), purpose: "token", hasPassword } as LinkHolder
})

/**
 * Finds the users to whom this browser belongs. Two users count: the one who last registered or requested a
 * confirmation mail in this browser, and the one who is logged in. A login that uses a refresh token from a URL does
 * not count, because an attacker can send another person a URL with the attacker's own token.
 */
export const usersOf = Effect.fnUntraced(function* ({ isGiven, registered, sessionToken }: Browser) {
  const own = isGiven ? "" : (sessionToken ?? "")
  const session = yield* BrowserSessions.use((sessions) => sessions.find(own))
  return [registered, session?.account.id].filter((id) => id !== undefined)
})
