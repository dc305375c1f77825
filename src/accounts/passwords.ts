import { randomBytes } from "node:crypto"
import argon2 from "@node-rs/argon2"
import { Context, Data, Effect, Layer, Schema, Semaphore } from "effect"
import { composePassword, lengthOfPassword, passwordLength } from "../../schema/accounts/credential-rules.ts"

export interface PasswordOptions {
  readonly memoryKib?: number
  readonly passes?: number
  readonly lanes?: number
  /**
   * The maximum number of hashes that are computed concurrently. Each one uses one of libuv's four threads, which DNS
   * lookups, file access and WebCrypto use too.
   */
  readonly concurrency?: number
  /** The maximum number of callers that wait in the queue. */
  readonly waiting?: number
  /** The maximum expected wait of a caller. A few callers may wait in any case. */
  readonly maxWaitMs?: number
}

export class PasswordQueueFull extends Schema.TaggedError<PasswordQueueFull>()(
  "PasswordQueueFull",
  { retryAfterSeconds: Schema.Int },
  { httpApiStatus: 503 },
) {}

export class PasswordUnacceptable extends Data.TaggedError("PasswordUnacceptable")<{
  readonly code: "too_short" | "too_long" | "malformed"
}> {}

// A longer password is rejected before it is normalised. A code point has at most two UTF-16 units, and NFC combines
// at most four code points into one.
const maxUnits = passwordLength.maximum * 2 * 4

/** So many callers may wait, whatever the expected wait is. */
const fewWaiting = 4

/** Checks the length and the characters of a password. Returns the NFC form, which is hashed. */
export const checkPassword = Effect.fnUntraced(function* (password: string) {
  if (password.length > maxUnits) return yield* new PasswordUnacceptable({ code: "too_long" })
  // UTF-8 encodes every lone surrogate as the same U+FFFD, so two different passwords could have the same hash.
  if (/\p{Surrogate}/u.test(password)) return yield* new PasswordUnacceptable({ code: "malformed" })
  const composed = composePassword(password)
  const codePoints = lengthOfPassword(composed)
  if (codePoints > passwordLength.maximum) return yield* new PasswordUnacceptable({ code: "too_long" })
  if (codePoints < passwordLength.minimum) return yield* new PasswordUnacceptable({ code: "too_short" })
  return composed
})

/** Returns random bytes in the base64 form that stored hashes use for salt and digest. */
const randomPart = (bytes: number) => randomBytes(bytes).toString("base64").replaceAll("=", "")

/**
 * Hashes and verifies passwords with Argon2id, in a queue of limited length. When the queue is full, further calls
 * fail with PasswordQueueFull, so that many concurrent logins do not exhaust the process.
 */
export class Passwords extends Context.Service<
  Passwords,
  {
    readonly hash: (password: string) => Effect.Effect<string, PasswordUnacceptable | PasswordQueueFull>
    /**
     * If there is no stored hash, this returns false, but takes as long as the check of a real hash. So the response
     * time does not reveal whether a user exists.
     */
    readonly verify: (
      stored: string | undefined,
      password: string,
    ) => Effect.Effect<boolean, PasswordQueueFull>
    readonly needsRehash: (stored: string) => boolean
  }
>()("services/Passwords") {
  static readonly layer = (options: PasswordOptions = {}) => {
    const {
      memoryKib = 19_456,
      passes = 2,
      lanes = 1,
      concurrency = 1,
      waiting = 64,
      maxWaitMs = 1500,
    } = options
    // The algorithm is not set here. Argon2id is the package's default, and the package's enum of algorithms cannot be
    // used with isolatedModules, because it is ambient.
    const cost = { memoryCost: memoryKib, timeCost: passes, parallelism: lanes, outputLen: 32 }
    const algorithmPrefix = "$argon2id$v=19$"
    // A hash that no password matches. Verifying against it takes as long as verifying against a user's hash.
    const dummyHash = `${algorithmPrefix}m=${memoryKib},t=${passes},p=${lanes}$${randomPart(16)}$${randomPart(32)}`

    return Layer.effect(
      Passwords,
      Effect.gen(function* () {
        const permits = yield* Semaphore.make(concurrency)
        let inside = 0
        let usualMillis = 50

        const enter = Effect.suspend(() => {
          const queueMillis = (inside / concurrency) * usualMillis
          const isLong = inside > concurrency + fewWaiting && queueMillis > maxWaitMs
          if (isLong || inside >= concurrency + waiting) {
            return Effect.fail(
              new PasswordQueueFull({ retryAfterSeconds: Math.max(1, Math.ceil(queueMillis / 1000)) }),
            )
          }
          inside++
          return Effect.void
        })
        const leave = () =>
          Effect.sync(() => {
            inside--
          })
        const timed = async <A>(job: () => Promise<A>) => {
          const startedAt = performance.now()
          const result = await job()
          usualMillis += (performance.now() - startedAt - usualMillis) / 4
          return result
        }
        // A job can be interrupted while it waits, but not while it runs. A running hash keeps its thread busy until
        // the end, so it must keep its permit too.
        const queued = <A>(job: () => Promise<A>) =>
          Effect.acquireUseRelease(
            enter,
            () => permits.withPermit(Effect.uninterruptible(Effect.promise(() => timed(job)))),
            leave,
          )

        return Passwords.of({
          hash: Effect.fnUntraced(function* (password: string) {
            const composed = yield* checkPassword(password)
            return yield* queued(() => argon2.hash(composed, cost))
          }),
          verify: (stored, password) => {
            if (password.length > maxUnits) return Effect.succeed(false)
            const composed = composePassword(password)
            return stored === undefined
              ? Effect.as(
                  queued(() => argon2.verify(dummyHash, composed)),
                  false,
                )
              : queued(() => argon2.verify(stored, composed))
          },
          needsRehash: (stored) => {
            if (!stored.startsWith(algorithmPrefix)) return true
            const made = argon2.parseOptions(stored)
            return (
              made.memoryCost !== memoryKib ||
              made.timeCost !== passes ||
              made.parallelism !== lanes ||
              made.outputLen !== cost.outputLen
            )
          },
        })
      }),
    )
  }
}
