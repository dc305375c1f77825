import { Schema } from "effect"
import { DisplayFeature } from "./feature.ts"
import { Role, Scope } from "./scope.ts"
import { DisplayUser } from "./user.ts"

export const CurrentUser = Schema.Struct({
  features: Schema.Array(DisplayFeature),
  global_scopes: Schema.Array(Scope),
  organization_roles: Schema.Record(Schema.String, Role),
  organization_scopes: Schema.Record(Schema.String, Schema.Array(Scope)),
  /** Ids the user has given into a transfer that is not finished. */
  pending_transfers: Schema.Array(Schema.String),
  pubkeys: Schema.Array(Schema.String),
  role: Role,
  user: DisplayUser,
  partner_transaction_id: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "CurrentUser" })
export type CurrentUser = typeof CurrentUser.Type
