import { describe, expect, it } from "vitest"
import { Tally } from "../../../bench/load/tally.ts"

describe("a tally of responses", () => {
  it("computes percentiles of fast and slow responses", () => {
    const tally = new Tally()
    for (let i = 1; i <= 9_990; i++) tally.settle(i / 1000, undefined)
    for (let i = 0; i < 10; i++) tally.settle(2_000, undefined)
    const { p50Ms, p99Ms, p9999Ms, maxMs } = tally.latency()
    expect(tally.completed).toBe(10_000)
    expect(p50Ms).toBeCloseTo(5, 1)
    expect(p99Ms).toBeCloseTo(9.9, 1)
    expect(p9999Ms).toBeCloseTo(2_000, -1)
    expect(maxMs).toBeCloseTo(2_000, -1)
  })

  it("excludes error responses from the latency, but includes timeouts and unsent operations", () => {
    const tally = new Tally()
    tally.settle(0.001, "status 503")
    tally.settle(400, "timeout")
    tally.settle(70, "unsent")
    expect(tally.completed).toBe(0)
    expect(tally.errors).toEqual({ "status 503": 1, timeout: 1, unsent: 1 })
    expect(tally.latency().curve[0]?.[1]).toBeGreaterThan(69)
    expect(tally.latency().maxMs).toBeGreaterThan(399)
  })

  it("returns zero for all latencies if there were no operations", () => {
    const { meanMs, p50Ms, maxMs } = new Tally().latency()
    expect([meanMs, p50Ms, maxMs]).toEqual([0, 0, 0])
  })
})
