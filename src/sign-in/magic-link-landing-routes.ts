import { Effect } from "effect"
import { isRedirectPath } from "../../schema/accounts/session.ts"
import { InvalidRequest } from "../../schema/errors.ts"
import type { Browser } from "../accounts/sessions/browser-cookies.ts"
import { type Form, readParameters } from "../http/request/form.ts"

const maxTokenLength = 512

/** What the address of a link says. */
export interface Landing {
  readonly token: string
  /** Whether the token is in the address. */
  readonly isShown: boolean
  /** A path of ours to go on to. */
  readonly next: string | undefined
  /** This page's own path, for its form. */
  readonly action: string
}

/** An application's request goes on to the page that checks it; otherwise a path of ours, or nowhere. */
const nextOf = ({ refresh_token: _, redirect, ...rest }: Form): string | undefined => {
  if (rest["client_id"] !== undefined) {
    return `/authorize?${new URLSearchParams({ response_type: "code", ...rest })}`
  }
  return redirect !== undefined && isRedirectPath(redirect) ? redirect : undefined
}

/** It goes on in headers, of which many a client takes 16 KB. */
const maxLandingCharacters = 8_000

export const readLanding = (
  search: string,
  { handedToken }: Browser,
): Effect.Effect<Landing, InvalidRequest> => {
  const read = readParameters(search)
  if (read === undefined || read.repeated.size > 0) {
    return Effect.fail(
      new InvalidRequest({ error: "The link is damaged. Copy it from the mail as a whole." }),
    )
  }
  const action = `/magic_link?${new URLSearchParams(read.values)}`
  if (action.length > maxLandingCharacters) {
    return Effect.fail(new InvalidRequest({ error: "The link is too long to go on with." }))
  }
  const shown = read.values["refresh_token"]
  return Effect.succeed({
    token: (shown ?? handedToken ?? "").slice(0, maxTokenLength),
    isShown: shown !== undefined,
    next: nextOf(read.values),
    action,
  })
}

export const withoutToken = (search: string): string => {
  const rest = new URLSearchParams(search)
  rest.delete("refresh_token")
  return `/magic_link?${rest}`
}
