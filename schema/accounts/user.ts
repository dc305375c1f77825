import { Schema } from "effect"
import { DateTime, Uuid, words } from "../wire-format.ts"
import { Role } from "./scope.ts"

export const TwoFactorProvider = words("TwoFactorProvider", ["AuthenticatorApp", "SMS"])
export type TwoFactorProvider = typeof TwoFactorProvider.Type

const required = {
  id: Uuid,
  created_at: DateTime,
  updated_at: DateTime,
  free_limit: Schema.Int,
  remaining_free_emoji: Schema.Int,
  pubkeys: Schema.Array(Schema.String),
  role: Role,
  /**
   * Whether a client should ask the user to enable two-factor authentication. True for one day every 30 days while it is
   * off.
   */
  two_factor_should_prompt: Schema.Boolean,
  /** False while the account is deactivated. `deactivated_at` is then set. */
  is_active: Schema.Boolean,
}
const optional = {
  alternate_id: Schema.optionalKey(Schema.String),
  email: Schema.optionalKey(Schema.String),
  first_name: Schema.optionalKey(Schema.String),
  last_name: Schema.optionalKey(Schema.String),
  source: Schema.optionalKey(Schema.String),
  deactivated_at: Schema.optionalKey(DateTime),
  email_verified_at: Schema.optionalKey(DateTime),
  /** When that day last began: at a registration, login or refresh of tokens. */
  two_factor_last_prompted_at: Schema.optionalKey(DateTime),
  two_factor_auth: Schema.optionalKey(Schema.Array(TwoFactorProvider)),
  partner_conversion_id: Schema.optionalKey(Schema.String),
  /** If the partner sent no transaction id, this is the conversion id. */
  partner_transaction_id: Schema.optionalKey(Schema.String),
}

export const DisplayUser = Schema.Struct({ ...required, ...optional }).annotate({ identifier: "DisplayUser" })
export type DisplayUser = typeof DisplayUser.Type

export const DisplayUserExtended = Schema.Struct({
  ...required,
  ...optional,
  emoji_ids: Schema.Array(Schema.String).annotate({
    description:
      "Oldest first. At most 5,000 ids for a single user, and at most 200 ids for each user in a list. GET /emoji_id?user_id= returns all of them in pages.",
  }),
}).annotate({ identifier: "DisplayUserExtended" })
