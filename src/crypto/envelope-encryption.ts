import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto"
import { Context, Data, Effect, Layer } from "effect"
import { type KeyRingInvalid, makeKeyRing, type NamedKey } from "./key-ring.ts"

export class SealBroken extends Data.TaggedError("SealBroken")<{
  readonly reason: "malformed" | "key_unknown" | "rejected"
}> {}

const algorithm = "aes-256-gcm"
const ivBytes = 12
const tagBytes = 16
const keyBytes = 32
const maxPlaintextBytes = 65_536
const maxTextLength = 90_000
const textPattern = /^v1\.([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]{80})\.([A-Za-z0-9_-]{38,})$/

const encrypt = (key: KeyObject | Uint8Array, plaintext: Uint8Array, aad: string, iv: Uint8Array) => {
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(aad))
  return Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

/** Returns the plaintext. Throws if the authentication tag does not match. */
const decrypt = (key: KeyObject | Uint8Array, box: Buffer, aad: string) => {
  const decipher = createDecipheriv(algorithm, key, box.subarray(0, ivBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(aad))
    .setAuthTag(box.subarray(-tagBytes))
  return Buffer.concat([decipher.update(box.subarray(ivBytes, -tagBytes)), decipher.final()])
}

// The AAD (authenticated data) contains `data` or `key`, so the ciphertext of a data key is never accepted as the
// ciphertext of a secret.
const dataAad = (aad: string) => `v1/data/${aad}`
const wrapAad = (keyId: string, aad: string) => `v1/key/${keyId}/${aad}`

/**
 * Encrypts secrets for storage as `v1.<key id>.<wrapped data key>.<box>`. The wrapped data key and the box are each
 * iv, ciphertext and tag in base64url. Every secret has its own data key; the master key encrypts only the data key.
 * So a change of the master key rewrites 60 bytes for each secret, not the secret itself. The AAD (authenticated
 * data) identifies the owner: a text that is copied to the row of another owner cannot be decrypted.
 */
export class Seal extends Context.Service<
  Seal,
  {
    readonly seal: (plaintext: Uint8Array, aad: string) => Effect.Effect<string>
    readonly open: (text: string, aad: string) => Effect.Effect<Buffer, SealBroken>
    readonly isStale: (text: string) => boolean
    /**
     * Returns the text with its data key encrypted by the current master key. A text that already uses this master
     * key is returned unchanged.
     */
    readonly reseal: (text: string, aad: string) => Effect.Effect<string, SealBroken>
  }
>()("services/Seal") {
  static readonly layer = (options: {
    readonly keys: ReadonlyArray<NamedKey>
  }): Layer.Layer<Seal, KeyRingInvalid> =>
    Layer.effect(
      Seal,
      Effect.gen(function* () {
        const ring = yield* makeKeyRing(options.keys, "seal")
        const currentPrefix = `v1.${ring.currentId}.`

        const wrap = (dataKey: Uint8Array, aad: string, iv: Uint8Array) =>
          encrypt(ring.current, dataKey, wrapAad(ring.currentId, aad), iv).toString("base64url")

        const unwrap = Effect.fnUntraced(function* (text: string, aad: string) {
          const parts = text.length <= maxTextLength ? textPattern.exec(text) : null
          if (parts === null) return yield* new SealBroken({ reason: "malformed" })
          const [, keyId = "", wrapped = "", box = ""] = parts
          const master = ring.all.get(keyId)
          if (master === undefined) return yield* new SealBroken({ reason: "key_unknown" })
          const dataKey = yield* Effect.try({
            try: () => decrypt(master, Buffer.from(wrapped, "base64url"), wrapAad(keyId, aad)),
            catch: () => new SealBroken({ reason: "rejected" }),
          })
          return { dataKey, box }
        })

        return Seal.of({
          seal: (plaintext, aad) =>
            Effect.sync(() => {
              if (plaintext.length > maxPlaintextBytes)
                throw new RangeError(`secret is longer than ${maxPlaintextBytes} bytes`)
              // One call returns the random bytes of all three values, because this call costs about as much as a call
              // for one value.
              const random = randomBytes(keyBytes + 2 * ivBytes)
              const dataKey = random.subarray(0, keyBytes)
              const boxIv = random.subarray(keyBytes, keyBytes + ivBytes)
              const wrapIv = random.subarray(keyBytes + ivBytes)
              const box = encrypt(dataKey, plaintext, dataAad(aad), boxIv).toString("base64url")
              const text = `${currentPrefix}${wrap(dataKey, aad, wrapIv)}.${box}`
              dataKey.fill(0)
              return text
            }),
          open: Effect.fnUntraced(function* (text: string, aad: string) {
            const { dataKey, box } = yield* unwrap(text, aad)
            return yield* Effect.try({
              try: () => decrypt(dataKey, Buffer.from(box, "base64url"), dataAad(aad)),
              catch: () => new SealBroken({ reason: "rejected" }),
            }).pipe(Effect.ensuring(Effect.sync(() => dataKey.fill(0))))
          }),
          isStale: (text) => !text.startsWith(currentPrefix),
          reseal: Effect.fnUntraced(function* (text: string, aad: string) {
            if (text.startsWith(currentPrefix)) return text
            const { dataKey, box } = yield* unwrap(text, aad)
            const resealed = `${currentPrefix}${wrap(dataKey, aad, randomBytes(ivBytes))}.${box}`
            dataKey.fill(0)
            return resealed
          }),
        })
      }),
    )
}
