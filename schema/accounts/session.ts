import { Schema } from "effect"
import { DateTime, optional, text, Uuid } from "../wire-format.ts"
import { TwoFactorProvider } from "./user.ts"

/**
 * The tokens of a login. `expires_in` is the lifetime of the access token in seconds: a constant, because a repeated
 * request gets the same response. If no code is required, `requires_2fa` is omitted and not set to null, because
 * generated clients accept only the name of a provider as its value.
 */
export const TokenResponse = Schema.Struct({
  access_token: Schema.String,
  refresh_token: Schema.String,
  expires_in: Schema.Int,
  has_password: Schema.Boolean,
  requires_2fa: Schema.optionalKey(TwoFactorProvider),
}).annotate({ identifier: "TokenResponse" })
export type TokenResponse = typeof TokenResponse.Type

const recaptcha = optional(text(4096))
const refreshToken = text(512)

export const LoginRequest = Schema.Struct({
  email: optional(text(320)),
  alternate_id: optional(text(256)),
  password: text(1600),
  g_recaptcha_response: recaptcha,
}).annotate({ identifier: "LoginRequest" })

export const RefreshRequest = Schema.Struct({ refresh_token: refreshToken }).annotate({
  identifier: "RefreshRequest",
})

export const Confirm2Fa = Schema.Struct({ code: text(64), refresh_token: refreshToken }).annotate({
  identifier: "Confirm2Fa",
})

/**
 * Matches a path on this site. A scheme, two slashes at the start or a backslash could lead to another site, so they
 * are rejected.
 */
const localPath = /^\/(?![/\\])[^\\\p{Cc}\s]{0,500}$/u
/**
 * The pages of this site where a login may end. Other paths are not allowed, because some of them lead to another site:
 * `/redirect` leads where the owner of an emoji id wants.
 */
const pages = new Set(["/", "/docs", "/magic_link/done"])
const isPage = (path: string): boolean => pages.has(path) || path.startsWith("/partner/")

/**
 * Returns the path of a page where a login may end, in the form that a browser requests: percent-encoded and without
 * dot segments such as `/../`. Returns undefined if the text is not the path of such a page.
 */
export const readRedirectPath = (text: string): string | undefined => {
  if (!localPath.test(text) || !URL.canParse(text, "http://localhost")) return undefined
  const { hash, pathname, search } = new URL(text, "http://localhost")
  return isPage(pathname) ? `${pathname}${search}${hash}` : undefined
}
/**
 * A redirect path or an empty text. Clients in languages without `undefined` may send an empty text to omit the path.
 */
const RedirectPath = Schema.String.check(
  Schema.makeFilter((text: string) => text === "" || readRedirectPath(text) !== undefined, {
    message: `expected the path of a page: ${[...pages].join(", ")} or a path that starts with /partner/`,
  }),
)

export const MagicLinkLoginRequest = Schema.Struct({
  email: optional(text(320)),
  user_id: optional(Uuid),
  redirect: optional(RedirectPath),
  g_recaptcha_response: recaptcha,
}).annotate({ identifier: "MagicLinkLoginRequest" })

export const MagicLinkLoginResponse = Schema.Struct({
  message: Schema.String,
  status: Schema.Literals(["Active", "RegisteredInactive", "RegisteredActive", "Inactive"]),
}).annotate({ identifier: "MagicLinkLoginResponse" })
export type MagicLinkStatus = (typeof MagicLinkLoginResponse.Type)["status"]

/**
 * The first confirmation of an account with a password requires one of three things: the password, an access token,
 * or `discard_credentials: true`. `discard_credentials` removes the password, sessions and keys that were set up
 * before.
 */
export const MagicLinkConsumeRequest = Schema.Struct({
  token: text(128),
  password: optional(text(1600)),
  discard_credentials: optional(Schema.Boolean),
}).annotate({ identifier: "MagicLinkConsumeRequest" })

export const PasswordResetRequest = Schema.Struct({
  email: text(320),
  redirect: optional(RedirectPath),
  g_recaptcha_response: recaptcha,
}).annotate({ identifier: "PasswordResetRequest" })

export const PasswordResetConfirmRequest = Schema.Struct({
  token: text(128),
  password: text(1600),
}).annotate({ identifier: "PasswordResetConfirmRequest" })

export const SuccessResponse = Schema.Struct({ message: Schema.String }).annotate({
  identifier: "SuccessResponse",
})

/**
 * A login session of the current user. `Pending` waits for its two-factor code: someone has shown the password or used
 * an emailed link. `Stale` requires a new code for sensitive operations. `last_used_at` is exact to about a minute. Sessions of release 0.2 have no `device` and no `address`
 * until their next refresh.
 */
export const DisplaySession = Schema.Struct({
  id: Uuid,
  status: Schema.Literals(["Pending", "Verified", "Stale", "Locked"]),
  created_at: DateTime,
  last_used_at: DateTime,
  expires_at: DateTime,
  device: Schema.optionalKey(Schema.String),
  address: Schema.optionalKey(Schema.String),
  current: Schema.Boolean,
}).annotate({ identifier: "DisplaySession" })
export type DisplaySession = typeof DisplaySession.Type
