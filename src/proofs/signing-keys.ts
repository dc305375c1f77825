import { createPrivateKey, type KeyObject } from "node:crypto"
import { Context, Effect, Layer, Schedule } from "effect"
import type { ProofKey } from "../../schema/proofs/key-document.ts"
import { Seal } from "../crypto/envelope-encryption.ts"
import { DatabaseClock } from "../postgres/database-clock.ts"
import { makeSigningKey } from "./new-key.ts"
import { aadFor, makeSigningKeyStore, type StoredKey } from "./signing-key-store.ts"

/** A rotation publishes its key for longer than this before the key signs, so every process knows the key by then. */
const rereadEvery = "10 seconds"

interface SigningKey extends StoredKey {
  /** Undefined if the stored key cannot be decrypted. */
  readonly privateKey: KeyObject | undefined
}

export const isPublished = ({ notAfter }: Pick<StoredKey, "notAfter">, now: number): boolean =>
  notAfter === null || notAfter > now

const toJwk = ({ kid, notAfter, notBefore, publicKey }: StoredKey): ProofKey => ({
  kty: "OKP",
  crv: "Ed25519",
  x: publicKey,
  kid,
  use: "sig",
  alg: "EdDSA",
  not_before: notBefore,
  not_after: notAfter,
})

/**
 * The keys that sign proofs. The first process of a service creates the first key. Every process reads the keys again after a
 * few seconds, because the command line changes them.
 */
export class SigningKeys extends Context.Service<
  SigningKeys,
  {
    /** Returns the newest key that may sign now (Unix time in seconds). */
    current(now: number): (StoredKey & { readonly privateKey: KeyObject }) | undefined
    /** The keys whose proofs are valid, and those that will sign later, the newest first. */
    published(now: number): ReadonlyArray<ProofKey>
    /** Reads the keys again. */
    readonly reread: Effect.Effect<void>
    /** Calls the listener when a key has ended before its time. Its proofs must not be sent any more. */
    onRetired(listener: () => void): void
  }
>()("directory/SigningKeys") {
  static readonly layer = Layer.effect(
    SigningKeys,
    Effect.gen(function* () {
      const clock = yield* DatabaseClock
      const seal = yield* Seal
      const store = yield* makeSigningKeyStore
      const listeners: Array<() => void> = []
      let keys: ReadonlyArray<SigningKey> = []

      const open = Effect.fnUntraced(function* (key: StoredKey) {
        const known = keys.find(({ kid }) => kid === key.kid)
        if (known?.privateKey !== undefined) return { ...key, privateKey: known.privateKey }
        const der = yield* Effect.option(seal.open(key.sealedKey, aadFor(key.kid)))
        if (der._tag === "None") {
          if (known === undefined) yield* Effect.logError(`cannot decrypt the signing key ${key.kid}`)
          return { ...key, privateKey: undefined }
        }
        const privateKey = createPrivateKey({ key: der.value, format: "der", type: "pkcs8" })
        der.value.fill(0)
        return { ...key, privateKey }
      })

      const read = Effect.gen(function* () {
        const now = clock.now() / 1000
        const stored = (yield* store.list).filter((key) => isPublished(key, now))
        const ended = keys.filter(
          (key) => isPublished(key, now) && !stored.some(({ kid }) => kid === key.kid),
        )
        keys = yield* Effect.forEach(stored, open)
        if (ended.length > 0) for (const listener of listeners) listener()
      })

      if ((yield* store.list).length === 0) yield* store.addFirst(yield* makeSigningKey)
      yield* read
      const reread = read.pipe(
        Effect.catchCause((cause) => Effect.logWarning("reading the signing keys failed", cause)),
      )
      yield* Effect.forkScoped(Effect.repeat(Effect.delay(reread, rereadEvery), Schedule.forever))

      return SigningKeys.of({
        current: (now) => {
          for (const { privateKey, ...key } of keys) {
            if (privateKey !== undefined && key.notBefore <= now && isPublished(key, now))
              return { ...key, privateKey }
          }
          return undefined
        },
        published: (now) => keys.filter((key) => isPublished(key, now)).map(toJwk),
        reread,
        onRetired: (listener) => void listeners.push(listener),
      })
    }),
  )
}
