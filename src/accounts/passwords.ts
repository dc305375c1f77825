import { randomBytes } from "node:crypto"
import argon2 from "@node-rs/argon2"
import { Context, Data, Effect, Layer, Schema, Semaphore } from "effect"
import { composePassword, lengthOfPassword, passwordLength } from "../../schema/accounts/credential-rules.ts"

export interface PasswordOptions {
  readonly memoryKib?: number
  readonly passes?: number
  readonly lanes?: number
  /** Hashes computed at once. Each holds one of libuv's four threads, which DNS, files and WebCrypto share. */
  readonly concurrency?: number
  /** Callers that may wait behind them. */
  readonly waiting?: number
}

export class PasswordQueueFull extends Schema.TaggedError<PasswordQueueFull>()(
  "PasswordQueueFull",
  { retryAfterSeconds: Schema.Int },
  { httpApiStatus: 503 },
) {}

export class PasswordUnacceptable extends Data.TaggedError("PasswordUnacceptable")<{
  readonly code: "too_short" | "too_long" | "malformed"
}> {}

// Two UTF-16 units for each code point, and at most four times that before composing: beyond it, do not even try.
const maxUnits = passwordLength.maximum * 2 * 4

/** Gives the composed form that is hashed. */
export const checkPassword = Effect.fnUntraced(function* (password: string) {
  if (password.length > maxUnits) return yield* new PasswordUnacceptable({ code: "too_long" })
  // Every lone surrogate becomes the same U+FFFD in UTF-8, so two different passwords would open one account.
  if (/\p{Surrogate}/u.test(password)) return yield* new PasswordUnacceptable({ code: "malformed" })
  const composed = composePassword(password)
  const codePoints = lengthOfPassword(composed)
  if (codePoints > passwordLength.maximum) return yield* new PasswordUnacceptable({ code: "too_long" })
  if (codePoints < passwordLength.minimum) return yield* new PasswordUnacceptable({ code: "too_short" })
  return composed
})

/** As a stored hash writes its salt and its digest. */
const randomPart = (bytes: number) => randomBytes(bytes).toString("base64").replaceAll("=", "")

/** Argon2id behind a bounded queue: a flood of logins meets PasswordQueueFull, not an exhausted process. */
export class Passwords extends Context.Service<
  Passwords,
  {
    readonly hash: (password: string) => Effect.Effect<string, PasswordUnacceptable | PasswordQueueFull>
    /** Without a stored hash it takes as long as with one and answers false. */
    readonly verify: (
      stored: string | undefined,
      password: string,
    ) => Effect.Effect<boolean, PasswordQueueFull>
    readonly needsRehash: (stored: string) => boolean
  }
>()("services/Passwords") {
  static readonly layer = (options: PasswordOptions = {}) => {
    const { memoryKib = 19_456, passes = 2, lanes = 1, concurrency = 1, waiting = 64 } = options
    // The package's default algorithm is argon2id; its enum is ambient and cannot be named under isolatedModules.
    const cost = { memoryCost: memoryKib, timeCost: passes, parallelism: lanes, outputLen: 32 }
    const algorithmPrefix = "$argon2id$v=19$"
    // No password has this hash, and each takes as long to be refused by it as by somebody's.
    const nobodys = `${algorithmPrefix}m=${memoryKib},t=${passes},p=${lanes}$${randomPart(16)}$${randomPart(32)}`

    return Layer.effect(
      Passwords,
      Effect.gen(function* () {
        const permits = yield* Semaphore.make(concurrency)
        let inside = 0
        let lastMillis = 50

        const enter = Effect.suspend(() => {
          if (inside >= concurrency + waiting) {
            const queueMillis = (inside / concurrency) * lastMillis
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
          lastMillis = performance.now() - startedAt
          return result
        }
        // Waiting may be interrupted; a running hash may not, because its thread stays busy and the permit must too.
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
                  queued(() => argon2.verify(nobodys, composed)),
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
