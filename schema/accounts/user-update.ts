import { Schema } from "effect"
import { optional, text } from "../wire-format.ts"
import { Email } from "./email.ts"
import { Role } from "./scope.ts"
import { DisplayUser } from "./user.ts"

const maxFreeLimit = 100_000

/** Omitted and null members do not change. An empty name removes the name. */
export const AdminUpdateUserParameters = Schema.Struct({
  /** Activates the account and stores this source. */
  activation_source: optional(text(200)),
  /** False deactivates the account and ends its sessions, true activates it. */
  active: optional(Schema.Boolean),
  /** Verified if present. */
  current_password: optional(text(1000)),
  email: optional(Email),
  first_name: optional(text(200)),
  last_name: optional(text(200)),
  free_limit: optional(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxFreeLimit }))),
  password: optional(text(1000)),
  role: optional(Role),
}).annotate({ identifier: "AdminUpdateUserParameters" })
export type AdminUpdateUserParameters = typeof AdminUpdateUserParameters.Type

/** The anonymous account that remains, and the ids that stay reserved under it. */
export const DeletedUser = Schema.Struct({
  ...DisplayUser.fields,
  kept_emoji_ids: Schema.Array(Schema.String),
}).annotate({ identifier: "DeletedUser" })
export type DeletedUser = typeof DeletedUser.Type
