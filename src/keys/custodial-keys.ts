import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { Seal, type SealBroken } from "../crypto/envelope-encryption.ts"

/** The two columns of a custodial key in the database. */
export interface CustodialKey {
  readonly pubkey: string
  readonly sealedKey: string
}

// Binds the encrypted key to its pubkey: it cannot be decrypted in the row of another one.
const aadFor = (pubkey: string) => `custodial-key/${pubkey}`

/** Ed25519 keys that the service stores for its users. Private keys leave this file only encrypted. */
export class CustodialKeys extends Context.Service<
  CustodialKeys,
  {
    readonly make: Effect.Effect<CustodialKey>
    /** Returns the signature as 128 hex digits. */
    readonly sign: (key: CustodialKey, message: Uint8Array) => Effect.Effect<string, SealBroken>
    /** Encrypts the private key again, with the current master key. */
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
