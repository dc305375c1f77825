import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto"
import { ristretto255 } from "@noble/curves/ed25519.js"
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
 * Says whether the bytes of an Ed25519 public key are also the encoding of a Ristretto255 point. A Ristretto255 encoding
 * is an even number below 2^255. This is checked first, because it is fast and rejects three keys in four.
 */
const isRistrettoPoint = (pubkey: Uint8Array): boolean => {
  if ((pubkey[0]! & 1) !== 0 || pubkey[31]! > 0x7f) return false
  try {
    ristretto255.Point.fromBytes(pubkey)
    return true
  } catch {
    return false
  }
}

/**
 * Generates Ed25519 keys until the public key is also a Ristretto255 point, about 16 times. Existing partner servers
 * decode the first pubkey of a user as a Ristretto255 point and end the sign-up if that fails. The private key loses 4 of
 * 252 bits.
 */
const makeKeyPair = () => {
  for (;;) {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519")
    const pubkey = publicKey.export({ format: "der", type: "spki" }).subarray(-32)
    if (isRistrettoPoint(pubkey)) return { privateKey, pubkey: pubkey.toString("hex") }
  }
}

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
          const pair = makeKeyPair()
          const { pubkey } = pair
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
