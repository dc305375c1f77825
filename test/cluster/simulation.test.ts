import fc from "fast-check"
import { expect, it } from "vitest"
import { World } from "./simulation.ts"

it("no process serves a value that an acknowledged write has replaced, while processes fail, start and stop", () => {
  let served = 0
  let acknowledged = 0
  const play = (seed: number) => {
    const world = new World(seed)
    world.run(4_000)
    world.isCalm = true
    world.run(7_000)
    for (const node of world.alive) {
      expect(node.protocol.mayServe(node.clock()), `${node.id} serves again`).toBe(true)
      expect(node.protocol.counters.waiting, `${node.id} has no pending invalidations`).toBe(0)
      expect(world.staleAt(node), `${node.id} holds what the database holds`).toEqual([])
    }
    served += world.served
    acknowledged += world.acknowledged
  }
  fc.assert(fc.property(fc.integer(), play), { numRuns: 120, endOnFailure: true })
  expect(served).toBeGreaterThan(50_000)
  expect(acknowledged).toBeGreaterThan(2_000)
})
