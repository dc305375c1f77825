import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { TurnBudget } from "../../src/http/limits/turn-budget.ts"
import { WorkQueue } from "../../src/http/limits/work-queue.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "setInterval", "clearInterval", "setImmediate"] })
})
afterEach(() => {
  vi.useRealTimers()
})

const maxWaitMs = 2000

const makeQueue = () => {
  const log = { begun: [] as Array<number>, refused: [] as Array<number> }
  const budget = new TurnBudget(() => {
    while (queue.startOne());
  })
  const queue: WorkQueue = new WorkQueue({ budget, maxWaitMs, maxRunning: 64, minRunning: 32 })
  let count = 0
  const add = (requests: number) => {
    for (let i = 0; i < requests; i++) {
      const n = count++
      queue.add({
        discardAt: performance.now() + maxWaitMs,
        begin: () => log.begun.push(n),
        refuse: () => log.refused.push(n),
      })
    }
  }
  /** Completes so many requests every ten milliseconds, while `arriving` requests arrive. */
  const pass = (ms: number, completed: number, arriving = 0) => {
    for (let passed = 0; passed < ms; passed += 10) {
      add(arriving)
      for (let i = 0; i < completed && queue.stats().running > 0; i++) queue.done(true)
      vi.advanceTimersByTime(10)
    }
  }
  return { add, log, pass, queue }
}

it("begins requests in the order of arrival, and no more at a time than may run", () => {
  const { add, log, queue } = makeQueue()
  add(100)
  vi.advanceTimersByTime(10)
  expect(queue.stats()).toMatchObject({ running: 64, waiting: 36, refused: 0 })
  for (let i = 0; i < 36; i++) queue.done(true)
  vi.advanceTimersByTime(10)
  expect(log.begun).toEqual(Array.from({ length: 100 }, (_, n) => n))
})

it("absorbs a burst of some hundred requests", () => {
  const { add, log, pass, queue } = makeQueue()
  add(500)
  pass(1500, 4)
  expect(log.refused).toEqual([])
  expect(log.begun).toHaveLength(500)
  expect(queue.stats().waiting).toBe(0)
})

it("refuses requests whose expected wait is longer than half of the longest wait, so those it accepts are begun in time", () => {
  const { log, pass, queue } = makeQueue()
  // 400 requests per second are completed, and 1200 arrive.
  pass(10_000, 4, 12)
  const { discarded, expectedWaitMs, refused, waiting } = queue.stats()
  expect(discarded).toBe(0)
  expect(refused).toBeGreaterThan(6000)
  expect(log.begun.length).toBeGreaterThan(3900)
  expect(expectedWaitMs).toBeLessThan(1200)
  expect(waiting).toBeLessThan(600)
})

it("accepts all requests again as soon as the queue is empty", () => {
  const { add, log, pass, queue } = makeQueue()
  pass(5000, 4, 40)
  pass(1500, 4)
  expect(queue.stats()).toMatchObject({ running: 0, waiting: 0, expectedWaitMs: 0 })
  const refusedBefore = log.refused.length
  add(400)
  pass(1500, 4)
  expect(log.refused).toHaveLength(refusedBefore)
})

it("discards requests that have waited too long, and begins none of them", () => {
  const { add, log, pass, queue } = makeQueue()
  add(200)
  vi.advanceTimersByTime(10)
  pass(maxWaitMs + 200, 0)
  expect(queue.stats()).toMatchObject({ running: 64, waiting: 0, discarded: 136 })
  pass(500, 4)
  expect(log.begun).toHaveLength(64)
  add(1)
  expect(log.begun).toHaveLength(65)
})

it("lets few requests wait while nothing is completed", () => {
  const { pass, queue } = makeQueue()
  pass(10_000, 0, 12)
  pass(100, 0, 12)
  expect(queue.stats().running).toBe(64)
  expect(queue.stats().waiting).toBeLessThanOrEqual(16)
})
