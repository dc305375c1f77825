import { Option, Schema } from "effect"
import { optional, text } from "../wire-format.ts"
import { CurrentUser } from "./current-user.ts"
import { Email } from "./email.ts"
import { TokenResponse } from "./session.ts"

const name = optional(text(100))
const password = optional(text(1600))

export const RegisterUserParameters = Schema.Struct({
  email: optional(text(320)),
  alternate_id: optional(text(256)),
  password,
  source: optional(text(100)),
  first_name: name,
  last_name: name,
  activate: optional(Schema.Boolean),
  activation_source: optional(text(100)),
  /** The partner's own ids for the user. They are returned unchanged. */
  partner_conversion_id: optional(text(256)),
  partner_transaction_id: optional(text(256)),
  g_recaptcha_response: optional(text(4096)),
}).annotate({ identifier: "RegisterUserParameters" })
export type RegisterUserParameters = typeof RegisterUserParameters.Type

export const UpdateUserParameters = Schema.Struct({
  first_name: name,
  last_name: name,
  email: optional(text(320)),
  password,
  current_password: password,
  /** Deletes all API keys of the user. Only together with a new password. */
  revoke_api_keys: optional(Schema.Boolean),
}).annotate({ identifier: "UpdateUserParameters" })
export type UpdateUserParameters = typeof UpdateUserParameters.Type

/** `token_response` is present after a password change, because that ends every session, including the caller's. */
export const UpdateAccountResponse = Schema.Struct({
  ...CurrentUser.fields,
  token_response: Schema.optionalKey(TokenResponse),
}).annotate({ identifier: "UpdateAccountResponse" })

const decodeEmail = Schema.decodeUnknownOption(Email)

/**
 * Returns the normalised form in which an email address is stored, or undefined if the text is not an email address.
 */
export const readEmail = (typed: string): string | undefined => Option.getOrUndefined(decodeEmail(typed))
