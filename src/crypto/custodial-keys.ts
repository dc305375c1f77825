import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { Seal, type SealBroken } from "./envelope-encryption.ts"

/** A custodial key as it is stored in the database: the public key, and the encrypted private key. */
export interface CustodialKey {
  readonly pubkey: string
  readonly sealedKey: string
}

// The additional authenticated data (AAD) binds the encrypted key to its pubkey: an encrypted key that is copied to the
// row of another pubkey cannot be decrypted.
const aadFor = (pubkey: string) => `custodial-key/${pubkey}`

/**
 * Generates and uses the Ed25519 keys that the service stores for its users. A private key leaves this file only in
 * encrypted form.
 */
export class CustodialKeys extends Context.Service<
  CustodialKeys,
  {
    readonly make: Effect.Effect<CustodialKey>
    /** Signs the message and returns the signature as 128 hex digits. */
    readonly sign: (key: CustodialKey, message: Uint8Array) => Effect.Effect<string, SealBroken>
    /** Returns the encrypted private key with its data key encrypted by the current master key (see `Seal`). */
    readonly reseal: (key: CustodialKey) => Effect.Effect<string, SealBroken>
  }
>()("services/CustodialKeys") {
  static readonly layer: Layer.Layer<CustodialKeys, never, Seal> = Layer.effect(
    CustodialKeys,
    Effect.gen(function* () {
      const { seal, open, reseal } = yield* Seal
      return CustodialKeys.of({
        make: Effect.gen(function* () {
          const pair = generateKeyPairSync("ed25519")
          const pubkey = pair.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex")
          const privateKey = pair.privateKey.export({ format: "der", type: "pkcs8" })
          const sealedKey = yield* seal(privateKey, aadFor(pubkey))
          privateKey.fill(0)
          return { pubkey, sealedKey }
        }),
        sign: Effect.fnUntraced(function* ({ pubkey, sealedKey }: CustodialKey, message: Uint8Array) {
          const privateKey = yield* open(sealedKey, aadFor(pubkey))
          const key = createPrivateKey({ key: privateKey, format: "der", type: "pkcs8" })
          privateKey.fill(0)
          return sign(null, message, key).toString("hex")
        }),
        reseal: ({ pubkey, sealedKey }) => reseal(sealedKey, aadFor(pubkey)),
      })
    }),
  )
}
