import { Schema } from "effect"
import { DateTime, DateTimeIn, optional, text } from "../wire-format.ts"
import { Scope } from "./scope.ts"

export const CreateApiKeyBody = Schema.Struct({
  name: text(200).check(Schema.isPattern(/\S/, { message: "expected a name" })),
  expires_at: optional(DateTimeIn),
  scopes: optional(Schema.Array(Scope).check(Schema.isMaxLength(200))),
}).annotate({ identifier: "CreateApiKeyBody" })

/**
 * `api_key` is the complete key only in the response that creates it. Later responses show the id and hide the secret.
 */
export const DisplayApiKey = Schema.Struct({
  id: Schema.String,
  api_key: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(Scope),
  created_at: DateTime,
  expires_at: Schema.optionalKey(DateTime),
}).annotate({ identifier: "DisplayApiKey" })
export type DisplayApiKey = typeof DisplayApiKey.Type
