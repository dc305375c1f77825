import { Effect } from "effect"
import { readRedirectPath } from "../../schema/accounts/session.ts"
import { InvalidRequest } from "../../schema/errors.ts"
import type { Browser } from "../accounts/sessions/browser-cookies.ts"
import { type Form, readParameters } from "../http/request/form.ts"

const maxTokenLength = 512

/** The data of the page that a link opens. */
export interface Landing {
  readonly token: string
  /** Whether the token is in the URL. Otherwise it is from the cookie `handed`. */
  readonly isShown: boolean
  /** The path of this site where the user continues after the login. Undefined if the link names none. */
  readonly next: string | undefined
  /** The path to which the page's form is sent. It is the path of the page itself. */
  readonly action: string
}

/**
 * Returns the path where the user continues after the login. For an authorization request this is /authorize, which
 * validates the request. For any other link it is the `redirect` path, or undefined if the link has no valid one.
 */
const nextOf = ({ refresh_token: _, token: __, redirect, ...rest }: Form): string | undefined => {
  if (rest["client_id"] !== undefined) {
    return `/authorize?${new URLSearchParams({ response_type: "code", ...rest })}`
  }
  return readRedirectPath(redirect ?? "")
}

/**
 * The maximum length of a link's path. The path is sent in response headers, and many clients accept at most 16 KB of
 * headers.
 */
const maxLandingCharacters = 8_000

/** The parameters of an emailed link, and the parts of `Landing` that follow from them. */
export const readLink = (
  search: string,
  path: `/${string}`,
): Effect.Effect<Pick<Landing, "action" | "next"> & { readonly values: Form }, InvalidRequest> => {
  const read = readParameters(search)
  if (read === undefined || read.repeated.size > 0) {
    return Effect.fail(
      new InvalidRequest({ error: "The link is damaged. Copy the complete link from the email." }),
    )
  }
  const action = `${path}?${new URLSearchParams(read.values)}`
  if (action.length > maxLandingCharacters) {
    return Effect.fail(
      new InvalidRequest({
        error: `The link is too long. Its path may have at most ${maxLandingCharacters} characters.`,
      }),
    )
  }
  return Effect.succeed({ values: read.values, next: nextOf(read.values), action })
}

export const readLanding = (
  search: string,
  { handedToken }: Browser,
): Effect.Effect<Landing, InvalidRequest> =>
  Effect.map(readLink(search, "/magic_link"), ({ action, next, values }) => {
    const shown = values["refresh_token"]
    return {
      token: (shown ?? handedToken ?? "").slice(0, maxTokenLength),
      isShown: shown !== undefined,
      next,
      action,
    }
  })

export const withoutToken = (search: string): string => {
  const rest = new URLSearchParams(search)
  rest.delete("refresh_token")
  return `/magic_link?${rest}`
}
