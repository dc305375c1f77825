import argon2 from "@node-rs/argon2"
import { Effect, Fiber } from "effect"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { checkPassword, type PasswordOptions, Passwords } from "../../src/accounts/passwords.ts"

/** Records how many hashes the real package computes concurrently, and against which hashes it verifies passwords. */
const watch = { running: 0, peak: 0, verified: [] as Array<string> }
const { hash, verify } = argon2
const watched = async <A>(job: () => Promise<A>) => {
  watch.peak = Math.max(watch.peak, ++watch.running)
  try {
    return await job()
  } finally {
    watch.running--
  }
}
beforeEach(() => {
  Object.assign(watch, { running: 0, peak: 0, verified: [] })
  vi.spyOn(argon2, "hash").mockImplementation((...args) => watched(() => hash(...args)))
  vi.spyOn(argon2, "verify").mockImplementation((...args) => {
    watch.verified.push(String(args[0]))
    return watched(() => verify(...args))
  })
})
afterEach(() => vi.restoreAllMocks())

const cheap: PasswordOptions = { memoryKib: 1024, passes: 1 }
const run = <A, E>(
  body: (passwords: Passwords["Service"]) => Effect.Effect<A, E>,
  options: PasswordOptions = cheap,
) => Effect.runPromise(Passwords.use(body).pipe(Effect.provide(Passwords.layer(options))))

test("by default, passwords are hashed with argon2id, 19 MiB of memory and two passes", async () => {
  const stored = await run((passwords) => passwords.hash("correct horse"), {})
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
})

test("a hash matches only the right password, and two hashes of the same password differ", async () => {
  const [first, second, right, wrong] = await run((passwords) =>
    Effect.gen(function* () {
      const one = yield* passwords.hash("correct horse")
      const two = yield* passwords.hash("correct horse")
      return [
        one,
        two,
        yield* passwords.verify(one, "correct horse"),
        yield* passwords.verify(one, "Correct horse"),
      ] as const
    }),
  )
  expect(first).not.toBe(second)
  expect([right, wrong]).toEqual([true, false])
})

test("the composed and the decomposed Unicode form of a password match the same hash", async () => {
  const matches = await run((passwords) =>
    Effect.flatMap(passwords.hash("caf\u00e9-caf\u00e9"), (stored) =>
      passwords.verify(stored, "cafe\u0301-cafe\u0301"),
    ),
  )
  expect(matches).toBe(true)
})

test("without a stored hash, a password is verified against a dummy hash of the same cost", async () => {
  const stored = await run((passwords) => passwords.hash("correct horse"))
  expect(await run((passwords) => passwords.verify(undefined, "correct horse"))).toBe(false)
  const [dummy = "", ...others] = watch.verified
  expect(others).toEqual([])
  expect(argon2.parseOptions(dummy)).toEqual(argon2.parseOptions(stored))
  expect(dummy).toHaveLength(stored.length)
})

test("needsRehash is true for a hash with another algorithm or other cost parameters", async () => {
  const stored = await run((passwords) => passwords.hash("correct horse"))
  const needs = (options: PasswordOptions, hash = stored) =>
    run((passwords) => Effect.succeed(passwords.needsRehash(hash)), options)
  expect(await needs(cheap)).toBe(false)
  expect(await needs({ ...cheap, passes: 2 })).toBe(true)
  expect(await needs({ ...cheap, memoryKib: 2048 })).toBe(true)
  expect(await needs(cheap, stored.replace("argon2id", "argon2i"))).toBe(true)
})

test.each([
  ["1234567", "too_short"],
  ["🐙".repeat(7), "too_short"],
  ["x".repeat(201), "too_long"],
  ["x".repeat(1_000_000), "too_long"],
  ["passwor\ud83d", "malformed"],
])("the password $0 is rejected as $1", async (password, code) => {
  const refused = await Effect.runPromise(Effect.flip(checkPassword(password)))
  expect(refused).toMatchObject({ _tag: "PasswordUnacceptable", code })
})

test("the length of a password is counted in Unicode code points, so 8 and 200 emoji are accepted", async () => {
  expect(await Effect.runPromise(checkPassword("🐙".repeat(8)))).toHaveLength(16)
  expect(await Effect.runPromise(checkPassword("🐙".repeat(200)))).toHaveLength(400)
})

test("only the configured number of hashes is computed concurrently", async () => {
  await run(
    (passwords) =>
      Effect.all(
        Array.from({ length: 12 }, () => passwords.hash("correct horse")),
        { concurrency: "unbounded" },
      ),
    { ...cheap, concurrency: 2 },
  )
  expect(watch.peak).toBe(2)
})

test("a full hash queue rejects calls with a retry time, and accepts calls again when it has room", async () => {
  await run(
    (passwords) =>
      Effect.gen(function* () {
        const results = yield* Effect.all(
          Array.from({ length: 5 }, () => Effect.result(passwords.verify(undefined, "correct horse"))),
          { concurrency: "unbounded" },
        )
        const refused = results.filter((result) => result._tag === "Failure")
        expect(refused).toHaveLength(2)
        expect(refused[0]!.failure).toMatchObject({ _tag: "PasswordQueueFull" })
        expect(refused[0]!.failure.retryAfterSeconds).toBeGreaterThanOrEqual(1)
        expect(yield* passwords.verify(undefined, "correct horse")).toBe(false)
      }),
    { ...cheap, waiting: 2 },
  )
})

test("a call whose expected wait is too long is rejected, although the queue has room", async () => {
  await run(
    (passwords) =>
      Effect.gen(function* () {
        const results = yield* Effect.all(
          Array.from({ length: 20 }, () => Effect.result(passwords.verify(undefined, "correct horse"))),
          { concurrency: "unbounded" },
        )
        const refused = results.filter((result) => result._tag === "Failure")
        expect(refused).toHaveLength(14)
        expect(yield* passwords.verify(undefined, "correct horse")).toBe(false)
      }),
    { ...cheap, maxWaitMs: 1 },
  )
})

test("a call that is interrupted in the queue leaves the queue, but a hash computation that has started is completed", async () => {
  await run(
    (passwords) =>
      Effect.gen(function* () {
        const running = yield* Effect.forkChild(passwords.hash("correct horse"), { startImmediately: true })
        const waiting = yield* Effect.forkChild(passwords.hash("correct horse"), { startImmediately: true })
        expect(yield* Effect.flip(passwords.hash("correct horse"))).toMatchObject({
          _tag: "PasswordQueueFull",
        })
        yield* Fiber.interrupt(waiting)
        const next = yield* Effect.forkChild(passwords.hash("correct horse"), { startImmediately: true })
        yield* Fiber.interrupt(running)
        yield* Fiber.join(next)
      }),
    { ...cheap, waiting: 1 },
  )
  expect(watch.peak).toBe(1)
})

test("computing a hash does not block the event loop", async () => {
  let turns = 0
  const turn = () => {
    turns++
    handle = setImmediate(turn)
  }
  let handle = setImmediate(turn)
  await run((passwords) => passwords.hash("correct horse"), {})
  clearImmediate(handle)
  expect(turns).toBeGreaterThan(10)
})
