import { expect, it } from "vitest"
import { World } from "./channel-simulation.ts"

it("a subscription that restarts with a new epoch during a read receives later events", () => {
  const world = new World()
  const { log } = world
  world.join()
  log.offset = 2
  const late = world.join({ epoch: "e1", offset: 0 })
  world.execute(1)
  log.offset = 5
  world.execute(0)
  // The result for the first subscriber arrives before the result for `late`, so the channel starts at offset 5. The
  // read for `late` ran at offset 2, so `late` must still read the events 3 to 5.
  world.answer(1)
  world.answer(0)
  expect(late.place).toEqual({ epoch: "e1", offset: 2 })
  expect(world.asked).toHaveLength(1)
  // The epoch changes, and the new state is read before the events 3 to 5.
  log.epoch = "e2"
  world.readNews()
  world.execute(1)
  world.answer(0)
  world.execute(1)
  world.answer(0)
  expect(late.place).toEqual({ epoch: "e2", offset: 5 })
  world.execute(0)
  world.answer(0)
  world.commit(1)
  world.readNews()
  world.execute(0)
  world.answer(0)
  expect(world.listeners.map(({ place }) => place?.offset)).toEqual([6, 6])
  expect(late.faults).toEqual([])
})
