import { describe, expect, it } from "vitest"
import type { ComparedRuns } from "../../../bench/against/measure.ts"
import { compareRuns, describeComparison, hasLoss } from "../../../bench/against/report.ts"
import { comparedScenarios } from "../../../bench/against/scenarios.ts"
import type { Run } from "../../../bench/load/run.ts"

const names = { ours: "this tree (abc)", theirs: "main (def)" }
const latency = { meanMs: 1, p50Ms: 1, p90Ms: 1, p99Ms: 1, p999Ms: 1, p9999Ms: 1, maxMs: 1, curve: [] }

const run = (rate: number, cpuMicros: number, changes: Partial<Run> = {}): Run => ({
  seconds: 1,
  completed: rate,
  ratePerSecond: rate,
  latency,
  errors: {},
  generator: { cpuShare: 0.5 },
  othersCpuShare: 0,
  server: {
    cpuShare: 1,
    cpuMicrosPerOperation: cpuMicros,
    databaseCpuMicrosPerOperation: 0.1,
    rssMb: 100,
  },
  ...changes,
})
const times = (count: number, make: (n: number) => Run): Run[] =>
  Array.from({ length: count }, (_, n) => make(n))
const lookup = comparedScenarios[0]!
const compared = (ours: Run[], theirs: Run[]): readonly ComparedRuns[] => [{ scenario: lookup, ours, theirs }]

describe("the report of a comparison with another commit", () => {
  it("has a row for each figure, but no row for the database if the database was hardly used", () => {
    const same = () => times(8, (n) => run(1000 + n, 10))
    const comparison = compareRuns(compared(same(), same()), names)
    expect(comparison.figures.map(({ figure }) => figure)).toEqual([
      "operations per second",
      "server CPU per operation",
    ])
    expect(hasLoss(comparison)).toBe(false)
    expect(describeComparison(comparison, names)).toContain("Nothing is slower beyond noise.")
  })

  it("names a slower figure and counts it as a loss", () => {
    const comparison = compareRuns(
      compared(
        times(8, (n) => run(1000 + n, 13)),
        times(8, (n) => run(1001 - n, 10)),
      ),
      names,
    )
    expect(hasLoss(comparison)).toBe(true)
    const text = describeComparison(comparison, names)
    expect(text).toContain("| lookup | server CPU per operation | 1.300 | 1.300 to 1.300 |")
    expect(text).toContain("Slower beyond noise: lookup (server CPU per operation).")
  })

  it("omits a scenario if the requests to one commit fail, and counts failures of the working tree as a loss", () => {
    const failing = () => times(3, () => run(10, 1, { errors: { "status 404": 90 } }))
    const fine = () => times(3, () => run(1000, 10))
    const ours = compareRuns(compared(failing(), fine()), names)
    expect(ours.figures).toEqual([])
    expect(hasLoss(ours)).toBe(true)
    const theirs = compareRuns(compared(fine(), failing()), names)
    expect(hasLoss(theirs)).toBe(false)
    expect(describeComparison(theirs, names)).toContain(
      "lookup, main (def): not compared, 90 % failed (status 404)",
    )
  })

  it("lists figures that are too noisy, and counts the runs that other programs disturbed", () => {
    const noisy = times(4, (n) => run(n % 2 === 0 ? 500 : 1500, 10, { othersCpuShare: 1 }))
    const text = describeComparison(
      compareRuns(
        compared(
          noisy,
          times(4, () => run(1000, 10)),
        ),
        names,
      ),
      names,
    )
    expect(text).toContain("Too noisy to show a loss of 10 %: lookup (operations per second).")
    expect(text).toContain("Other programs used the machine in 4 of 8 runs")
  })
})
