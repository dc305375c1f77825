import { Schema } from "effect"

/** A published signing key: a JWK (RFC 8037), with the times between which its proofs are valid. */
const ProofKey = Schema.Struct({
  kty: Schema.Literal("OKP"),
  crv: Schema.Literal("Ed25519"),
  x: Schema.String,
  kid: Schema.String,
  use: Schema.Literal("sig"),
  alg: Schema.Literal("EdDSA"),
  not_before: Schema.Int.annotateKey({
    description: "Unix time in seconds. No proof of the key was issued before.",
  }),
  not_after: Schema.NullOr(Schema.Int).annotateKey({
    description: "Unix time in seconds. No proof of the key expires later. Null while the end is not known.",
  }),
}).annotate({ identifier: "ProofKey" })
export type ProofKey = typeof ProofKey.Type

export const ProofKeys = Schema.Struct({
  origin: Schema.String.annotateKey({ description: "The claim `origin` of every proof of this service." }),
  proof_lifetime_seconds: Schema.Int,
  keys: Schema.Array(ProofKey).annotateKey({ description: "The newest key first." }),
  links: Schema.Struct({ api: Schema.String, docs: Schema.String }),
}).annotate({ identifier: "ProofKeys" })
export type ProofKeys = typeof ProofKeys.Type
