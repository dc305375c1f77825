import { createHash, generateKeyPairSync } from "node:crypto"
import { Effect } from "effect"
import { Seal } from "../crypto/envelope-encryption.ts"
import { aadFor, type NewKey } from "./signing-key-store.ts"

/** Returns the JWK thumbprint (RFC 7638) of an Ed25519 public key. */
const thumbprint = (x: string): string =>
  createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url")

/** Generates an Ed25519 key. The private key leaves this function only in encrypted form. */
export const makeSigningKey = Effect.gen(function* () {
  const seal = yield* Seal
  const pair = generateKeyPairSync("ed25519")
  const { x: publicKey = "" } = pair.publicKey.export({ format: "jwk" })
  const kid = thumbprint(publicKey)
  const privateKey = pair.privateKey.export({ format: "der", type: "pkcs8" })
  const sealedKey = yield* seal.seal(privateKey, aadFor(kid))
  privateKey.fill(0)
  return { kid, publicKey, sealedKey } satisfies NewKey
})
