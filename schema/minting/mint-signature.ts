import { Schema } from "effect"
import { Json, optional } from "../wire-format.ts"

export const SignatureRequest = Schema.Struct({
  account: Schema.String.check(Schema.isMaxLength(64)),
  /** The Unix time in seconds when the signature expires. */
  expiry: optional(Schema.Int),
}).annotate({ identifier: "SignatureRequest" })

export const SignatureResponse = Schema.Struct({
  account: Schema.String,
  expiry: Schema.Int,
  signature: Schema.String,
  token: Schema.String,
}).annotate({ identifier: "SignatureResponse" })

export const MintedRequest = Schema.Struct({
  minted: Schema.Boolean,
  /**
   * The number of the token in the contract. It must be the `token_id` of the emoji id, which the directory assigns
   * when it registers the id. So an administrator cannot record the mint of another id by mistake.
   */
  token_id: optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))),
}).annotate({ identifier: "MintedRequest" })

export const TokenMetadata = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  image: Schema.String,
  animation_url: Schema.String,
  external_link: Schema.String,
  attributes: Schema.Array(Schema.Struct({ trait_type: Schema.String, value: Json })),
}).annotate({ identifier: "TokenMetadata" })
export type TokenMetadata = typeof TokenMetadata.Type
