import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { StayAwake } from "../../../bench/load/stay-awake.ts"

describe("a load generator that polls while it waits", () => {
  it("measures idle time separately from work", async () => {
    let done = 0
    const startedAtMs = performance.now()
    const stayAwake = new StayAwake(() => done)
    stayAwake.restart()
    await sleep(40)
    const workedAtMs = performance.now()
    while (performance.now() - workedAtMs < 40) done++
    await sleep(10)
    const idleMs = stayAwake.end()
    const allMs = performance.now() - startedAtMs
    expect(idleMs).toBeGreaterThan(0)
    expect(idleMs).toBeLessThanOrEqual(allMs - 40)
  })

  it("stops polling when its measurement ends", async () => {
    let polls = 0
    const stayAwake = new StayAwake(() => ++polls)
    await sleep(5)
    stayAwake.end()
    const before = polls
    await sleep(20)
    expect(before).toBeGreaterThan(1)
    expect(polls).toBe(before)
  })
})
