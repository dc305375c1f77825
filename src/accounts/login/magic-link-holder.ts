import { Effect } from "effect"
import type { Browser } from "../sessions/browser-cookies.ts"
import { BrowserSessions } from "../sessions/browser-sessions.ts"
import type { LinkPurpose } from "./magic-link-store.ts"
import { MagicLinks } from "./magic-links.ts"

export interface LinkHolder {
  readonly userId: string
  readonly email: string
  readonly purpose: LinkPurpose | "token"
}

/** What a person is called on a page. */
export const nameOf = (email: string | null): string => email ?? "the account of this device"

/** Whose it is: the token of a mailed link, or a refresh token an application hands over. */
export const findHolder = Effect.fnUntraced(function* (token: string) {
  const link = yield* MagicLinks.use((links) => links.inspect(token))
  if (link !== undefined) return link satisfies LinkHolder as LinkHolder
  const session = yield* BrowserSessions.use((sessions) => sessions.find(token))
  if (session === undefined) return undefined
  const { email, id } = session.account
  return { userId: id, email: nameOf(email), purpose: "token" } as LinkHolder
})

/**
 * Who a browser is known as without the link: registered here, or logged in. Not by a login that came in an address, nor
 * as whom a partner has sent: anybody can make somebody open an address with a login of their own.
 */
export const usersOf = Effect.fnUntraced(function* ({ isGiven, registered, sessionToken }: Browser) {
  const own = isGiven ? "" : (sessionToken ?? "")
  const session = yield* BrowserSessions.use((sessions) => sessions.find(own))
  return [registered, session?.account.id].filter((id) => id !== undefined)
})
