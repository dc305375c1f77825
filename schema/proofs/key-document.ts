import { Schema } from "effect"

/** A published signing key: a JWK (RFC 8037), with the times between which its proofs are valid. */
const ProofKey = Schema.Struct({
  kty: Schema.Literal("OKP"),
  crv: Schema.Literal("Ed25519"),
  x: Schema.String,
  kid: Schema.String,
  use: Schema.Literal("sig"),
  alg: Schema.Literal("EdDSA"),
  /** Unix time in seconds. No proof of the key was issued before. */
  not_before: Schema.Int,
  /** Unix time in seconds. No proof of the key expires later. Null while the end is not known. */
  not_after: Schema.NullOr(Schema.Int),
}).annotate({ identifier: "ProofKey" })
export type ProofKey = typeof ProofKey.Type

export const ProofKeys = Schema.Struct({
  /** The claim `origin` of every proof of this service. */
  origin: Schema.String,
  proof_lifetime_seconds: Schema.Int,
  /** The newest key first. */
  keys: Schema.Array(ProofKey),
  links: Schema.Struct({ api: Schema.String, docs: Schema.String }),
}).annotate({ identifier: "ProofKeys" })
export type ProofKeys = typeof ProofKeys.Type
