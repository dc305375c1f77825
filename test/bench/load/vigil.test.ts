import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { Vigil } from "../../../bench/load/vigil.ts"

describe("a generator that stays awake", () => {
  it("tells the time in which nothing was to be done from the time of its work", async () => {
    let done = 0
    const vigil = new Vigil(() => done)
    vigil.restart()
    const begunAtMs = performance.now()
    await sleep(40)
    const workedAtMs = performance.now()
    while (performance.now() - workedAtMs < 40) done++
    await sleep(10)
    const spareMs = vigil.end()
    const allMs = performance.now() - begunAtMs
    expect(spareMs).toBeGreaterThan(0)
    expect(spareMs).toBeLessThanOrEqual(allMs - 40)
  })

  it("lets the process sleep again once it is over", async () => {
    let looks = 0
    const vigil = new Vigil(() => ++looks)
    await sleep(5)
    vigil.end()
    const before = looks
    await sleep(20)
    expect(before).toBeGreaterThan(1)
    expect(looks).toBe(before)
  })
})
