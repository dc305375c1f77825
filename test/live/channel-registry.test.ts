import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { channel, Listener, World } from "./channel-simulation.ts"

const someStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("commit" as const), n: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("join" as const), n: fc.integer({ min: -1, max: 12 }) }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom("execute", "answer"), n: fc.nat(6) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("say", "tell", "tell"), n: fc.nat(2) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom("readNews"), n: fc.constant(0) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom("fill", "drain", "leave", "return"), n: fc.nat(9) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("trim", "renew"), n: fc.nat(9) }) },
)

const play = (world: World, step: { readonly do: string; readonly n: number }) => {
  const { log } = world
  const chosen = world.listeners[step.n % Math.max(1, world.listeners.length)]
  switch (step.do) {
    case "commit":
      return world.commit(step.n)
    case "say":
      return world.say()
    case "tell":
      return world.tell(step.n)
    case "join":
      world.join(step.n < 0 ? undefined : { epoch: log.epoch, offset: Math.min(step.n, log.offset) })
      return
    case "readNews":
      return world.readNews()
    case "execute":
      return world.execute(step.n)
    case "answer":
      return world.answer(step.n)
    case "fill":
      if (chosen !== undefined) chosen.isFull = true
      return
    case "drain":
      if (chosen !== undefined) chosen.isFull = false
      chosen?.subscription?.advance()
      return
    case "leave":
      if (chosen?.isOpen) world.leave(chosen)
      return
    case "return":
      if (chosen?.isOpen === false) world.join(chosen.place)
      return
    case "trim":
      log.firstKept = Math.min(log.offset + 1, log.firstKept + step.n)
      return
    case "renew":
      log.epoch = `e${Number(log.epoch.slice(1)) + 1}`
      return
  }
}

describe("an open channel", () => {
  it("delivers events in order without gaps, for random commits, subscriptions, late reads and epoch changes", () => {
    fc.assert(
      fc.property(fc.array(someStep, { maxLength: 80 }), (steps) => {
        const world = new World()
        for (const step of steps) play(world, step)
        world.settle()
        for (const listener of world.listeners) {
          expect(listener.faults).toEqual([])
          if (listener.isOpen)
            expect(listener.place).toEqual({ epoch: world.log.epoch, offset: world.log.offset })
        }
      }),
      { numRuns: 1500 },
    )
  })

  it("publishes the events of its own process from memory, without a database read", () => {
    const world = new World()
    const listener = world.join()
    world.settle()
    const before = world.asked.length
    world.say()
    world.tell(0)
    expect([listener.place?.offset, listener.faults]).toEqual([1, []])
    expect(world.asked.length).toBe(before)
    expect(world.openChannels.isWanted(channel.name, 1)).toBe(false)
    expect(world.openChannels.isWanted(channel.name, 2)).toBe(true)
  })

  it("sends a new subscriber a state that is newer than the channel's position, and then only the events after this state", () => {
    const world = new World()
    const first = world.join()
    world.execute(0)
    world.answer(0)
    world.commit(3)
    const late = world.join()
    world.execute(0)
    world.answer(0)
    expect(late.place?.offset).toBe(3)
    world.commit(1)
    world.settle()
    expect([first, late].map(({ faults, place }) => [faults, place?.offset])).toEqual([
      [[], 4],
      [[], 4],
    ])
  })

  it("does not mix epochs when the result of a read from the old epoch arrives after the epoch has changed", () => {
    const world = new World()
    const first = world.join()
    world.settle()
    const second = world.join()
    world.execute(0)
    world.log.epoch = "e2"
    world.commit(2)
    world.readNews()
    world.execute(0)
    const [stale, news] = world.answers.splice(0)
    news?.()
    stale?.()
    world.settle()
    for (const { faults, place } of [first, second]) {
      expect(faults).toEqual([])
      expect(place).toEqual({ epoch: "e2", offset: 2 })
    }
  })

  it("resumes subscribers that come back after all have left without a read, also with events in between", () => {
    const world = new World()
    const listeners = [world.join(), world.join()]
    world.settle()
    for (const listener of listeners) world.leave(listener)
    expect(world.openChannels.size).toBe(0)
    world.say()
    world.tell(0)
    const reads = world.asked.length
    const back = listeners.map(({ place }) => world.join(place))
    expect(world.asked.length).toBe(reads)
    for (const { faults, place } of back) {
      expect(faults).toEqual([])
      expect(place?.offset).toBe(1)
    }
  })

  it("is closed when it has had no subscribers for half a minute", () => {
    const world = new World()
    const listener = world.join()
    world.settle()
    world.leave(listener)
    world.openChannels.closeUnused()
    expect(world.openChannels.find(channel.name)).toBeDefined()
    expect([...world.openChannels.names()]).toEqual([])
    world.join(listener.place).subscription?.end()
    world.openChannels.closeUnused(performance.now() + 60_000)
    expect(world.openChannels.find(channel.name)).toBeUndefined()
    expect(world.openChannels.isWanted(channel.name)).toBe(false)
  })

  it("is closed at once when its last subscriber leaves during a read, so that no subscriber waits for a skipped read", () => {
    const world = new World()
    const first = world.join()
    world.settle()
    const second = world.join()
    world.leave(first)
    world.leave(second)
    expect(world.openChannels.find(channel.name)).toBeUndefined()
    const third = world.join()
    world.settle()
    expect(third.started).toBe(1)
  })

  it("reads once for 50 simultaneous subscribers, and replays buffered events without a read", () => {
    const world = new World()
    for (let n = 0; n < 50; n++) world.join()
    expect(world.asked).toHaveLength(1)
    world.settle()
    world.commit(2)
    world.settle()
    const back = world.join({ epoch: world.log.epoch, offset: 1 })
    expect(world.asked).toHaveLength(0)
    expect(back.place?.offset).toBe(2)
  })

  it("pauses the replay to a socket with a full buffer, and continues when the buffer drains", () => {
    const world = new World()
    world.join()
    world.settle()
    world.commit(5)
    world.settle()
    const slow = new Listener(world.topics)
    slow.isFull = true
    slow.place = { epoch: world.log.epoch, offset: 0 }
    slow.subscription = world.openChannels.join(channel, slow, "market")
    slow.subscription.start(slow.place)
    world.settle()
    expect(slow.place.offset).toBe(0)
    slow.isFull = false
    slow.subscription.advance()
    expect(slow.place.offset).toBe(5)
    expect(slow.faults).toEqual([])
  })

  it("is removed when its last subscriber leaves", () => {
    const world = new World()
    const listeners = [world.join(), world.join()]
    world.settle()
    for (const listener of listeners) world.leave(listener)
    expect(world.openChannels.size).toBe(0)
    expect(world.openChannels.subscriptions).toBe(0)
  })
})
