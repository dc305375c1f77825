import { Schema } from "effect"
import { optional, text } from "../wire-format.ts"
import { Email } from "./email.ts"
import { Role } from "./scope.ts"
import { DisplayUser } from "./user.ts"

const maxFreeLimit = 100_000

/** Omitted and null fields do not change. An empty name removes the name. */
export const AdminUpdateUserParameters = Schema.Struct({
  /** If this text is present, the account is activated, and the text is stored as its source. */
  activation_source: optional(text(200)),
  /** False deactivates the account and ends its sessions. True activates the account. */
  active: optional(Schema.Boolean),
  /** The user's current password. If it is present, it must be correct. */
  current_password: optional(text(1000)),
  email: optional(Email),
  first_name: optional(text(200)),
  last_name: optional(text(200)),
  free_limit: optional(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxFreeLimit }))),
  password: optional(text(1000)),
  /** Deletes all API keys of the user. Only together with a new password. */
  revoke_api_keys: optional(Schema.Boolean),
  role: optional(Role),
}).annotate({ identifier: "AdminUpdateUserParameters" })
export type AdminUpdateUserParameters = typeof AdminUpdateUserParameters.Type

/**
 * The response to the deletion of a user: the anonymous account that remains, and the ids that stay reserved under
 * it.
 */
export const DeletedUser = Schema.Struct({
  ...DisplayUser.fields,
  kept_emoji_ids: Schema.Array(Schema.String),
}).annotate({ identifier: "DeletedUser" })
export type DeletedUser = typeof DeletedUser.Type
