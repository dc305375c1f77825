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
 * Finds the user of a token. This is the token of an emailed link, or a refresh token that an application put into
 * the URL. Returns undefined if the token is not valid.
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
 * Finds the users that the browser has proven to be, without using the link: the user who registered in this browser,
 * and the user who is logged in. A login with a refresh token from a URL or from a partner does not count, because
 * anyone can make another person open a URL with the sender's own token.
 */
export const usersOf = Effect.fnUntraced(function* ({ isGiven, registered, sessionToken }: Browser) {
  const own = isGiven ? "" : (sessionToken ?? "")
  const session = yield* BrowserSessions.use((sessions) => sessions.find(own))
  return [registered, session?.account.id].filter((id) => id !== undefined)
})
