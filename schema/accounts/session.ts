import { Schema } from "effect"
import { optional, text, Uuid } from "../wire-format.ts"
import { TwoFactorProvider } from "./user.ts"

/** `requires_2fa` is left out when no code is needed: generated clients know only the providers' names there. */
export const TokenResponse = Schema.Struct({
  access_token: Schema.String,
  refresh_token: Schema.String,
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

/** A path of ours and nothing that could lead elsewhere: no scheme, no second slash, no backslash. */
const redirectPath = /^\/(?![/\\])[^\\\p{Cc}\s]{0,500}$/u
export const isRedirectPath = (text: string): boolean => redirectPath.test(text)
/** Clients in languages without `undefined` may also send an empty one for what they leave out. */
const RedirectPath = Schema.String.check(
  Schema.makeFilter((text: string) => text === "" || isRedirectPath(text), {
    message: "expected a relative path",
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
 * The first confirmation of an account with a password needs one of three things: the password or an access token, which keep
 * what was set up before, or `discard_credentials: true`, which removes it.
 */
export const MagicLinkConsumeRequest = Schema.Struct({
  token: text(128),
  password: optional(text(1600)),
  discard_credentials: optional(Schema.Boolean),
}).annotate({ identifier: "MagicLinkConsumeRequest" })

export const SuccessResponse = Schema.Struct({ message: Schema.String }).annotate({
  identifier: "SuccessResponse",
})
