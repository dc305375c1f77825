import { Schema } from "effect"
import { optional, text } from "../wire-format.ts"
import { TwoFactorProvider } from "./user.ts"

export const Enable2FABody = Schema.Struct({
  /** Whether a login asks for this method first if the user has both. True if it is missing: some clients omit it. */
  default: optional(Schema.Boolean),
  provider: TwoFactorProvider,
  phone: optional(text(40)),
}).annotate({ identifier: "Enable2FABody" })

export const Enable2FAResponse = Schema.Struct({
  backup_codes: Schema.optionalKey(Schema.Array(Schema.String)),
  ga_qr_code_svg: Schema.optionalKey(Schema.String),
  ga_secret: Schema.optionalKey(Schema.String),
  phone_last_digits: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "Enable2FAResponse" })
export type Enable2FAResponse = typeof Enable2FAResponse.Type

export const Confirm2FaUpdate = Schema.Struct({ code: text(64) }).annotate({ identifier: "Confirm2FaUpdate" })

export const Disable2FABody = Schema.Struct({
  disable_all: Schema.Boolean,
  provider: optional(TwoFactorProvider),
}).annotate({ identifier: "Disable2FABody" })

export const BackupDisableBody = Schema.Struct({
  backup_code: text(64),
  alternate_id: optional(text(256)),
  email: optional(text(320)),
  disable_all: optional(Schema.Boolean),
  provider: optional(TwoFactorProvider),
}).annotate({ identifier: "BackupDisableBody" })

export const SuccessResponse2FA = Schema.Struct({
  message: Schema.String,
  phone_last_digits: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "SuccessResponse2FA" })

/**
 * Converts a phone number to E.164: removes spaces, dots, hyphens and brackets, and replaces a leading 00 by a plus
 * sign. Returns undefined if the number is not valid.
 */
export const readPhone = (typed: string): string | undefined => {
  const digits = typed.replaceAll(/[\s().-]/g, "").replace(/^00/, "+")
  return /^\+[1-9]\d{6,14}$/.test(digits) ? digits : undefined
}
