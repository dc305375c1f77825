import { Effect, Exit, Fiber } from "effect"
import { expect, it } from "vitest"
import { CurrentRequestTime } from "../../src/postgres/request-time.ts"
import { batchWrites } from "../../src/turns/batch-writes.ts"

/** Creates a database whose statements finish only when the test calls `answer`. */
const slowDatabase = () => {
  const statements: Array<ReadonlyArray<number>> = []
  const answers: Array<(works: boolean) => void> = []
  const run = (asks: ReadonlyArray<number>) =>
    Effect.callback<ReadonlyArray<Effect.Effect<number, "odd">>, "broken">((resume) => {
      statements.push(asks)
      const doubled = asks.map((ask) =>
        ask % 2 === 1 ? Effect.fail("odd" as const) : Effect.succeed(2 * ask),
      )
      answers.push((works) => resume(works ? Effect.succeed(doubled) : Effect.fail("broken")))
    })
  const settled = () => new Promise((next) => setImmediate(next))
  const answer = async (works = true) => {
    answers.shift()?.(works)
    await settled()
  }
  const answerLast = async () => {
    answers.pop()?.(true)
    await settled()
  }
  return { run, statements, answer, answerLast }
}
const outcome = <A, E>(exit: Exit.Exit<A, E>) => (Exit.isSuccess(exit) ? exit.value : String(exit.cause))
const askAll = <E>(ask: (n: number) => Effect.Effect<number, E>, numbers: ReadonlyArray<number>) =>
  Promise.all(numbers.map((n) => Effect.runPromiseExit(ask(n)).then(outcome)))

it("requests that arrive while a statement runs share the next statement, and each request gets its own result", async () => {
  const { answer, run, statements } = slowDatabase()
  const all = askAll(batchWrites({ run, maxStatements: 1, maxAsks: 10 }), [2, 4, 6, 8])
  await answer()
  expect(statements).toEqual([[2], [4, 6, 8]])
  await answer()
  expect(await all).toEqual([4, 8, 12, 16])
})

it("the number of concurrent statements and the number of requests per statement are limited", async () => {
  const { answer, run, statements } = slowDatabase()
  const numbers = Array.from({ length: 12 }, (_, n) => 2 * n)
  const all = askAll(batchWrites({ run, maxStatements: 2, maxAsks: 4 }), numbers)
  expect(statements).toHaveLength(2)
  for (let n = 0; n < 5; n++) await answer()
  expect(await all).toEqual(numbers.map((n) => 2 * n))
  expect(statements.map(({ length }) => length)).toEqual([1, 1, 4, 4, 2])
})

it("an additional statement starts as soon as enough requests are waiting to fill a whole statement", async () => {
  const { answer, run, statements } = slowDatabase()
  const ask = batchWrites({ run, maxStatements: 1, maxFull: 1, maxAsks: 3 })
  const few = askAll(ask, [2, 4, 6])
  expect(statements).toEqual([[2]])
  const flood = askAll(ask, [8, 10, 12, 14, 16])
  expect(statements).toEqual([[2], [4, 6, 8]])
  for (let n = 0; n < 4; n++) await answer()
  expect(await few).toEqual([4, 8, 12])
  expect(await flood).toEqual([16, 20, 24, 28, 32])
  expect(statements).toEqual([[2], [4, 6, 8], [10, 12, 14], [16]])
})

it("a statement takes only half of the waiting requests if many requests are waiting", async () => {
  const { answer, run, statements } = slowDatabase()
  const numbers = Array.from({ length: 13 }, (_, n) => 2 * n)
  const all = askAll(batchWrites({ run, maxStatements: 1, maxAsks: 10, evenAsks: 2 }), numbers)
  for (let n = 0; n < 5; n++) await answer()
  expect(statements.map(({ length }) => length)).toEqual([1, 6, 3, 2, 1])
  expect(await all).toEqual(numbers.map((n) => 2 * n))
})

it("a statement that waits for a lock delays other requests only for a limited time", async () => {
  const { answer, answerLast, run, statements } = slowDatabase()
  const ask = batchWrites({ run, maxStatements: 1, maxHeldUp: 1, maxAsks: 2 })
  const heldUp = askAll(ask, [2])
  const all = askAll(ask, [4, 6, 8])
  expect(statements).toEqual([[2]])
  await expect.poll(() => statements).toEqual([[2], [4, 6]])
  await answerLast()
  expect(statements).toEqual([[2], [4, 6], [8]])
  await answerLast()
  expect(await all).toEqual([8, 12, 16])
  await answer()
  expect(await heldUp).toEqual([4])
})

it("a rejected request does not affect the other requests of its statement", async () => {
  const { answer, run } = slowDatabase()
  const all = askAll(batchWrites({ run, maxStatements: 1, maxAsks: 10 }), [2, 3, 4])
  await answer()
  await answer()
  expect(await all).toEqual([4, expect.stringContaining("odd"), 8])
})

it("all requests of a failed statement fail, and later statements still run", async () => {
  const { answer, run } = slowDatabase()
  const ask = batchWrites({ run, maxStatements: 1, maxAsks: 2 })
  const all = askAll(ask, [2, 4, 6, 8])
  await answer()
  await answer(false)
  await answer()
  expect(await all).toEqual([4, expect.stringContaining("broken"), expect.stringContaining("broken"), 16])
  const later = askAll(ask, [10])
  await answer()
  expect(await later).toEqual([20])
})

it("requests that may not share a statement run in separate statements", async () => {
  const { answer, run, statements } = slowDatabase()
  const fits = (ask: number, others: ReadonlyArray<number>) =>
    !others.some((other) => other % 10 === ask % 10)
  const all = askAll(batchWrites({ run, maxStatements: 1, maxAsks: 10, fits }), [0, 2, 12, 4, 22])
  for (let n = 0; n < 4; n++) await answer()
  expect(statements).toEqual([[0], [2, 4], [12], [22]])
  expect(await all).toEqual([0, 4, 24, 8, 44])
})

it("an interrupted request does not affect the results of other requests", async () => {
  const { answer, run } = slowDatabase()
  const ask = batchWrites({ run, maxStatements: 1, maxAsks: 10 })
  const first = Effect.runFork(ask(2))
  const second = Effect.runFork(ask(4))
  const third = Effect.runPromiseExit(ask(6)).then(outcome)
  const gaveUp = Effect.runPromise(Fiber.interruptAll([first, second]))
  await answer()
  await answer()
  expect(await third).toBe(12)
  await gaveUp
  const later = Effect.runPromiseExit(ask(8)).then(outcome)
  await answer()
  expect(await later).toBe(16)
})

it("a request that has waited too long behind another statement is discarded, and its statement is never sent", async () => {
  const { answer, run, statements } = slowDatabase()
  const ask = batchWrites({ run, maxStatements: 1, maxAsks: 10 })
  const askInTime = (n: number, discardAt: number) =>
    Effect.runPromiseExit(
      Effect.provideService(ask(n), CurrentRequestTime, { discardAt, isStrict: true, hasWritten: false }),
    ).then(outcome)
  const first = askAll(ask, [2])
  const late = askInTime(4, performance.now() + 1)
  const patient = askInTime(6, Number.POSITIVE_INFINITY)
  expect(await late).toContain("waited too long")
  await answer()
  await answer()
  expect([await first, await patient]).toEqual([[4], 12])
  expect(statements).toEqual([[2], [6]])
})
