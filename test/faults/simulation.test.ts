import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { expect, it } from "vitest"
import { longer } from "../fixtures/suite/patience.ts"
import type { MemoryDatabase } from "./simulation/memory-database.ts"
import { run, type Schedule } from "./simulation/workload.ts"

const fate = fc.record({
  outcome: fc.constantFrom("answered", "answered", "answered", "refused", "lost"),
  beforeMs: fc.constantFrom(0, 0, 1, 5, 50, 450),
  afterMs: fc.constantFrom(0, 0, 1, 5, 50, 450),
})
const step = fc.record({
  order: fc.nat(2),
  kind: fc.constantFrom("add", "add", "clear", "checkout", "checkout", "draft", "cancel", "expire", "pay"),
  id: fc.nat(3),
  process: fc.nat(2),
  afterMs: fc.nat(40),
  killAfterMs: fc.option(fc.nat(60), { nil: undefined, freq: 6 }),
})
const schedule: fc.Arbitrary<Schedule> = fc.record({
  steps: fc.array(step, { minLength: 2, maxLength: 12 }),
  fates: fc.array(fate, { minLength: 1, maxLength: 24 }),
})

/** Runs the schedule on a clock that jumps to the next event, so a minute takes a few milliseconds. */
const simulate = (given: Schedule) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const running = yield* Effect.forkChild(run(given))
      yield* TestClock.adjust("10 minutes")
      return yield* Fiber.join(running)
    }).pipe(Effect.scoped, Effect.provide(TestClock.layer())),
  )

const checkClaims = ({ claims, entities }: MemoryDatabase) => {
  for (const [id, { state, status }] of entities) {
    const { items } = state.context as { items: ReadonlyArray<{ claim: string }> }
    const held = [...claims].filter(([, { holder }]) => holder === id).map(([canonical]) => canonical)
    const wanted = status === "PendingPayment" ? items.map(({ claim }) => claim) : []
    expect(held.sort(), `${id} is ${status}`).toEqual(wanted.sort())
  }
}

it("commits every keyed request at most once and holds the right ids, whatever statements and processes fail", async () => {
  await fc.assert(
    fc.asyncProperty(schedule, async (given) => {
      const { answers, database } = await simulate(given)
      for (const { commits } of database.keys.values()) expect(commits).toBeLessThanOrEqual(1)
      for (const { key, outcome, refused } of answers as ReadonlyArray<{
        key: string
        outcome?: { key: string }
        refused?: string
      }>) {
        // A request that was answered has had its effect, and a request that was refused has not.
        if (outcome !== undefined) expect([outcome.key, database.keys.get(key)?.commits]).toEqual([key, 1])
        if (refused !== undefined) expect(database.keys.get(key)?.commits).toBe(0)
      }
      const versions = [...database.entities.values()].reduce((sum, { version }) => sum + version, 0)
      expect(versions).toBe(database.commits)
      expect(database.ledgerCents).toBe(0)
      checkClaims(database)
    }),
    { numRuns: 60 * longer },
  )
})
