import { Schema } from "effect"
import { isRedirectUri } from "../web-link.ts"
import { DateTime, optional, text, Uuid } from "../wire-format.ts"

const RedirectUris = Schema.Array(
  Schema.String.check(
    Schema.makeFilter(isRedirectUri, {
      message:
        "expected an https URL, an http URL of localhost or an app's deep link: no fragment, at most 500 characters",
    }),
  ),
).check(Schema.isMinLength(1), Schema.isMaxLength(20))

const ClientName = text(200).check(Schema.isPattern(/\S/, { message: "expected a name that is not blank" }))

export const OauthClient = Schema.Struct({
  client_id: Schema.String,
  name: Schema.String,
  redirect_uris: Schema.Array(Schema.String),
  organization_id: Schema.optionalKey(Uuid),
  created_at: DateTime,
  updated_at: DateTime,
}).annotate({ identifier: "OauthClient" })
export type OauthClient = typeof OauthClient.Type

/** The response to creating a client or rotating its secret. No other response contains the secret. */
export const OauthClientWithSecret = Schema.Struct({
  ...OauthClient.fields,
  client_secret: Schema.String,
}).annotate({ identifier: "OauthClientWithSecret" })
export type OauthClientWithSecret = typeof OauthClientWithSecret.Type

export const NewOauthClient = Schema.Struct({
  name: ClientName,
  redirect_uris: RedirectUris,
  organization_id: optional(Uuid),
}).annotate({ identifier: "NewOauthClient" })
export type NewOauthClient = typeof NewOauthClient.Type

/** The fields of a client to change. A field that is omitted or null does not change. */
export const UpdateOauthClient = Schema.Struct({
  name: optional(ClientName),
  redirect_uris: optional(RedirectUris),
}).annotate({ identifier: "UpdateOauthClient" })
export type UpdateOauthClient = typeof UpdateOauthClient.Type
