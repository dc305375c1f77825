import fc from "fast-check"
import { expect, it } from "vitest"
import { longer } from "../fixtures/suite/patience.ts"
import { World } from "./simulation.ts"

const runs = 60 * longer

it("no lookup returns an older version than an earlier one, while processes fail, start and stop and messages are lost", () => {
  let answered = 0
  let fromCache = 0
  let written = 0
  let refused = 0
  const play = (seed: number) => {
    const world = new World(seed)
    world.run(1_000)
    world.isCalm = true
    // Long enough for the marks of a write that ended without an outcome.
    world.run(5_000)
    for (const node of world.alive) {
      if (node.isLeaving) continue
      const { marks, waiting } = node.member.counters
      expect([node.id, waiting, marks]).toEqual([node.id, 0, 0])
    }
    answered += world.answered
    fromCache += world.fromCache
    written += world.written
    refused += world.refused
  }
  fc.assert(fc.property(fc.integer(), play), { numRuns: runs, endOnFailure: true })
  expect(answered).toBeGreaterThan(1_500 * runs)
  expect(fromCache).toBeGreaterThan(answered / 3)
  expect(written).toBeGreaterThan(30 * runs)
  expect(refused).toBeGreaterThan(runs / 6)
})

it("the simulation notices when the database ignores the fence", () => {
  const isCaught = (seed: number) => {
    try {
      new World(seed, { withoutFences: true }).run(1_500)
      return false
    } catch (error) {
      expect((error as Error).message).toMatch(/answered|caches/)
      return true
    }
  }
  expect(Array.from({ length: 50 }, (_, seed) => isCaught(seed))).toContain(true)
})
