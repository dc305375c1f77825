import { describe, expect, it } from "vitest"
import { compare, describe as describeComparison } from "../../../bench/report/compare.ts"
import { sampleResults, sampleRun, sampleScenario } from "./sample.ts"

const peaks = (...rates: number[]) =>
  sampleResults(
    sampleScenario({ sides: [{ name: "service", peak: rates.map((rate) => sampleRun(rate)), atRate: [] }] }),
  )

const ratios = (median: number, min: number, max: number) =>
  sampleResults(
    sampleScenario({
      sides: [{ name: "service", peak: [sampleRun(1), sampleRun(1), sampleRun(1)], atRate: [] }],
      ratios: [{ against: "bare", metric: "rate", value: { median, min, max } }],
    }),
  )

describe("a comparison with an earlier run", () => {
  it("reports a slower figure when the ranges of the runs do not overlap", () => {
    const { slower, faster } = compare(peaks(1000, 1010, 990), peaks(800, 810, 790))
    expect(slower.map(({ figure, worseBy }) => [figure, Number(worseBy.toFixed(2))])).toEqual([
      ["lookup, service at peak: operations per second", 0.2],
    ])
    expect(faster).toEqual([])
  })

  it("does not report a figure as slower if the ranges of the earlier and the later measurements overlap", () => {
    expect(compare(peaks(1000, 1010, 700), peaks(800, 810, 790)).slower).toEqual([])
  })

  it("reports no slower figure for a difference of 4 %, even with narrow ranges", () => {
    expect(compare(peaks(1000, 1001, 999), peaks(960, 961, 959)).slower).toEqual([])
  })

  it("assumes 10 % noise for a figure with only one run", () => {
    expect(compare(peaks(1000), peaks(850)).slower).toEqual([])
    expect(compare(peaks(1000), peaks(700)).slower).toHaveLength(1)
  })

  it("counts a higher CPU cost as slower and a lower CPU cost as faster", () => {
    const costing = (micros: number) => {
      const server = {
        cpuShare: 1,
        cpuMicrosPerOperation: micros,
        databaseCpuMicrosPerOperation: 0,
        rssMb: 80,
      }
      const runs = [sampleRun(1000, { server }), sampleRun(1000, { server })]
      return sampleResults(sampleScenario({ sides: [{ name: "service", peak: runs, atRate: [] }] }))
    }
    expect(compare(costing(20), costing(25)).slower).toHaveLength(1)
    expect(compare(costing(25), costing(20)).faster).toHaveLength(1)
  })

  it("compares latencies only if they were measured at the same rate", () => {
    const at = (rate: number, p99Ms: number) => {
      const run = sampleRun(rate, { offeredPerSecond: rate, latency: { ...sampleRun(1).latency, p99Ms } })
      return sampleResults(sampleScenario({ sides: [{ name: "service", peak: [], atRate: [run, run] }] }))
    }
    expect(compare(at(500, 3), at(500, 9)).slower.map(({ figure }) => figure)).toEqual([
      "lookup, service at 500/s: p99 ms",
    ])
    expect(compare(at(500, 3), at(600, 9)).compared).toBe(0)
  })

  it("reports a server whose operations fail, and does not compare the figures of this server", () => {
    const dead = sampleRun(0, { completed: 0, errors: { connect: 40 } })
    const after = sampleResults(
      sampleScenario({ sides: [{ name: "service", peak: [dead, dead], atRate: [] }] }),
    )
    const comparison = compare(peaks(1000, 1010), after)
    expect(comparison).toMatchObject({ slower: [], faster: [], compared: 0 })
    expect(comparison.failing).toEqual(["lookup, service: 100 % failed"])
  })

  it("compares the ratios, and lists scenarios that are missing in the earlier run", () => {
    const { slower } = compare(ratios(0.9, 0.88, 0.92), ratios(0.7, 0.69, 0.72))
    expect(slower.map(({ figure }) => figure)).toEqual(["lookup: rate ratio to bare"])
    const comparison = compare(sampleResults(), ratios(1, 1, 1))
    expect(describeComparison(comparison, "old.json")).toBe(
      "Compared with old.json: 0 slower, 0 faster of 0 figures.\nNot in the earlier file: lookup.",
    )
  })
})
