import { Schema } from "effect"
import { Scope } from "../accounts/scope.ts"
import { DateTime } from "../wire-format.ts"

/**
 * An application that a user gave access to. `emoji_ids` are the ids that the user chose for it. `last_used_at` is when
 * the application last got tokens; an access token is used for 15 minutes by default. `expires_at` is when the access
 * ends, unless the application gets tokens until then.
 */
export const GrantedApplication = Schema.Struct({
  client_id: Schema.String,
  name: Schema.String,
  emoji_ids: Schema.Array(Schema.String),
  scopes: Schema.Array(Scope),
  granted_at: DateTime,
  last_used_at: DateTime,
  expires_at: DateTime,
}).annotate({ identifier: "GrantedApplication" })
export type GrantedApplication = typeof GrantedApplication.Type
