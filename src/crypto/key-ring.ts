import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto"
import { Data, Effect, Redacted } from "effect"

/**
 * A configured secret: 32 random bytes in base64 or base64url. The texts, hashes and tokens that are made with it
 * contain its id.
 */
export interface NamedKey {
  readonly id: string
  readonly secret: Redacted.Redacted
}

/**
 * The keys of one purpose. The first configured key is the current one. It makes new texts, hashes and tokens. The
 * other keys only decrypt or verify older ones.
 */
export interface KeyRing {
  readonly currentId: string
  readonly current: KeyObject
  readonly all: ReadonlyMap<string, KeyObject>
}

export class KeyRingInvalid extends Data.TaggedError("KeyRingInvalid")<{
  readonly keyId: string
  readonly reason: "empty" | "id_malformed" | "id_repeated" | "secret_malformed"
}> {}

// An id contains no dots, because stored texts are split at dots.
const idPattern = /^[A-Za-z0-9_-]{1,32}$/
const secretPattern = /^[A-Za-z0-9+/_-]{43}=?$/

/**
 * Derives the keys of one purpose from the configured secrets. A secret gives a different key for each purpose, so a
 * text that was encrypted for one purpose cannot be decrypted for another.
 */
export const makeKeyRing = Effect.fnUntraced(function* (keys: ReadonlyArray<NamedKey>, purpose: string) {
  const all = new Map<string, KeyObject>()
  for (const { id, secret } of keys) {
    if (!idPattern.test(id)) return yield* new KeyRingInvalid({ keyId: id, reason: "id_malformed" })
    if (all.has(id)) return yield* new KeyRingInvalid({ keyId: id, reason: "id_repeated" })
    const text = Redacted.value(secret)
    if (!secretPattern.test(text)) return yield* new KeyRingInvalid({ keyId: id, reason: "secret_malformed" })
    const derived = hkdfSync("sha256", Buffer.from(text, "base64"), "", `emoji-id-directory/${purpose}`, 32)
    all.set(id, createSecretKey(Buffer.from(derived)))
  }
  const [first] = all
  if (first === undefined) return yield* new KeyRingInvalid({ keyId: "", reason: "empty" })
  const [currentId, current] = first
  return { currentId, current, all } satisfies KeyRing
})
