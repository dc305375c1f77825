import { Schema } from "effect"
import { DateTime, DateTimeIn, optional, text } from "../wire-format.ts"
import { Scope } from "./scope.ts"

export const CreateApiKeyBody = Schema.Struct({
  name: text(200).check(Schema.isPattern(/\S/, { message: "expected a name" })),
  expires_at: optional(DateTimeIn),
  scopes: optional(Schema.Array(Scope).check(Schema.isMaxLength(200))),
  /** Whether the key may do sensitive operations, for example transfers and checkouts. The default is false. */
  sensitive: optional(Schema.Boolean),
  /** Required for `sensitive` if the user has a password and no two-factor login. */
  current_password: optional(text(1600)),
}).annotate({ identifier: "CreateApiKeyBody" })

/**
 * `api_key` is the complete key only in the response that creates it. Later responses show the id and hide the secret.
 */
export const DisplayApiKey = Schema.Struct({
  id: Schema.String,
  api_key: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(Scope),
  /** Whether the key may do sensitive operations. */
  sensitive: Schema.Boolean,
  created_at: DateTime,
  /** When the key was last used, accurate to about a minute. */
  last_used_at: Schema.optionalKey(DateTime),
  expires_at: Schema.optionalKey(DateTime),
}).annotate({ identifier: "DisplayApiKey" })
export type DisplayApiKey = typeof DisplayApiKey.Type
