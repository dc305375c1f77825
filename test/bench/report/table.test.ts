import { describe, expect, it } from "vitest"
import { ratiosOf } from "../../../bench/report/ratio.ts"
import { markdownOf } from "../../../bench/report/table.ts"
import { baselineOnly } from "../../../bench/scenarios/self-checks.ts"
import { bareUws } from "../../../bench/side.ts"
import { sampleResults, sampleRun, sampleScenario } from "./sample.ts"

const subject = baselineOnly.subject.name
const opponent = baselineOnly.against[0]!.side.name

describe("the ratios between a measured server and its opponent", () => {
  it("are computed between runs of the same repetition", () => {
    const sides = [
      { name: subject, peak: [100, 50, 104].map((rate) => sampleRun(rate)), atRate: [] },
      { name: opponent, peak: [100, 50, 100].map((rate) => sampleRun(rate)), atRate: [] },
    ]
    const [rate, cpu] = ratiosOf(baselineOnly, sides)
    expect(rate).toEqual({
      against: opponent,
      metric: "rate",
      value: { median: 1, min: 1, max: 1.04 },
      aim: "≥ 0.9, ≤ 1.1",
      met: true,
    })
    expect(cpu).toMatchObject({ metric: "cpu", value: { median: 1 } })
  })

  it("are not judged if they compare rates and other programs used the CPU during the runs", () => {
    const disturbed = sampleRun(100, { othersCpuShare: 1.2 })
    const sides = [subject, opponent].map((name) => ({ name, peak: [disturbed], atRate: [] }))
    const [rate] = ratiosOf(baselineOnly, sides)
    expect(rate).toMatchObject({ aim: "≥ 0.9, ≤ 1.1" })
    expect(rate).not.toHaveProperty("met")
    const ratios = [{ ...rate!, against: "bare" }]
    expect(markdownOf(sampleResults(sampleScenario({ ratios })))).toContain(
      "≥ 0.9, ≤ 1.1 (not judged, see below) |",
    )
  })

  it("are judged by CPU time instead of by rate if the load generator limits the opponent", () => {
    const { server } = sampleRun(100)
    const cost = (cpuMicrosPerOperation: number) => ({ ...server!, cpuShare: 0.6, cpuMicrosPerOperation })
    const heldBack = sampleRun(100, { generator: { cpuShare: 0.99 }, server: cost(10) })
    const against = (peak: ReturnType<typeof sampleRun>) =>
      ratiosOf(baselineOnly, [
        { name: subject, peak: [peak], atRate: [] },
        { name: opponent, peak: [heldBack], atRate: [] },
      ])[0]
    expect(against(sampleRun(100, { server: cost(10.5) }))).toMatchObject({ met: true, byCpuTime: true })
    const tooDear = against(sampleRun(100, { server: cost(12) }))
    expect(tooDear).toMatchObject({ value: { median: 1 }, met: false, byCpuTime: true })
    expect(against(sampleRun(50, { server: cost(10) }))).toMatchObject({ met: false })
    const { server: _, ...untold } = sampleRun(100)
    expect(against(untold)).not.toHaveProperty("met")
    const ratios = [{ ...tooDear!, against: "bare" }]
    expect(markdownOf(sampleResults(sampleScenario({ ratios })))).toContain(
      "≥ 0.9, ≤ 1.1 ✗ (by CPU time, see below) |",
    )
  })

  it("do not meet their aim if too many operations fail", () => {
    const refusing = sampleRun(100, { errors: { "status 503": 5 } })
    const sides = [
      { name: subject, peak: [refusing], atRate: [] },
      { name: opponent, peak: [sampleRun(100)], atRate: [] },
    ]
    expect(ratiosOf(baselineOnly, sides)[0]).toMatchObject({ value: { median: 1 }, met: false })
    expect(markdownOf(sampleResults(sampleScenario({ sides })))).toContain("5 % of the operations failed")
  })

  it("can be divided by the ratio between two bare servers before they are judged", () => {
    const costing = (...micros: number[]) =>
      micros.map((cpuMicrosPerOperation) =>
        sampleRun(100, { server: { ...sampleRun(100).server!, cpuMicrosPerOperation } }),
      )
    const beyond = { subject: bareUws("two bare"), side: bareUws("one bare") }
    const against = [{ side: bareUws("one"), aims: [{ metric: "cpu", atMost: 1.1 }] as const, beyond }]
    const measure = (two: number[], bare: number[]) =>
      ratiosOf({ name: "workers", summary: "", subject: bareUws("two"), against }, [
        { name: "two", peak: [], atRate: costing(...two) },
        { name: "one", peak: [], atRate: costing(10, 10, 10) },
        { name: "two bare", peak: [], atRate: costing(...bare) },
        { name: "one bare", peak: [], atRate: costing(8, 8, 8) },
      ])
    const ratios = measure([12, 24, 12], [10, 20, 10])
    expect(ratios.filter(({ metric }) => metric === "cpu")).toEqual([
      { against: "one", metric: "cpu", value: { median: 1.2, min: 1.2, max: 2.4 } },
      { of: "two bare", against: "one bare", metric: "cpu", value: { median: 1.25, min: 1.25, max: 2.5 } },
      {
        against: "one",
        beyond: "two bare against one bare",
        metric: "cpu",
        value: { median: 0.96, min: 0.96, max: 0.96 },
        aim: "≤ 1.1",
        met: true,
      },
    ])
    expect(measure([12, 12, 12], [8, 8, 8]).at(-1)).toMatchObject({ value: { median: 1.2 }, met: false })
    const table = markdownOf(sampleResults(sampleScenario({ ratios })))
    for (const row of [
      "| one | server CPU per operation | 1.20 (1.20–2.40) |  |",
      "| two bare against one bare | server CPU per operation | 1.25 (1.25–2.50) |  |",
      "| one, beyond two bare against one bare | server CPU per operation | 0.96 | ≤ 1.1 ✓ |",
    ])
      expect(table).toContain(row)
  })

  it("are omitted for figures that a remote server does not provide", () => {
    const { server: _, ...remote } = sampleRun(100)
    const sides = [
      { name: subject, peak: [remote], atRate: [] },
      { name: opponent, peak: [sampleRun(400)], atRate: [] },
    ]
    expect(ratiosOf(baselineOnly, sides)).toMatchObject([
      { metric: "rate", value: { median: 0.25 }, met: false },
    ])
  })
})

describe("the report table", () => {
  const rows = (text: string) => text.split("\n").filter((line) => line.startsWith("| lookup"))

  it("shows each ratio with its spread, and whether the ratio met its aim", () => {
    const value = { median: 0.83, min: 0.8, max: 0.86 }
    const ratios = [{ against: "bare", metric: "rate" as const, value, aim: "≥ 0.8", met: true }]
    expect(rows(markdownOf(sampleResults(sampleScenario({ ratios }))))[0]).toBe(
      "| lookup | bare | operations per second | 0.83 (0.80–0.86) | ≥ 0.8 ✓ |",
    )
  })

  it("shows the number of errors of each kind", () => {
    const peak = [
      sampleRun(1000, { errors: { timeout: 2 } }),
      sampleRun(1000, { errors: { timeout: 1, "status 503": 7 } }),
    ]
    const text = markdownOf(sampleResults(sampleScenario({ sides: [{ name: "service", peak, atRate: [] }] })))
    expect(rows(text)[0]).toMatch(/\| 3 timeout, 7 status 503 \|$/)
  })

  it("warns about a saturated load generator, CPU use by other programs, and memory above the limit", () => {
    const run = sampleRun(1000, {
      generator: { cpuShare: 0.99 },
      othersCpuShare: 0.8,
      server: { cpuShare: 0.5, cpuMicrosPerOperation: 9, databaseCpuMicrosPerOperation: 0, rssMb: 400 },
    })
    const sides = [{ name: "service", peak: [run], atRate: [] }]
    const text = markdownOf(sampleResults(sampleScenario({ sides, rssLimitMb: 300 })))
    expect(text).toContain("the generator was the limit")
    expect(text).toContain("other programs used up to 0.8 cores")
    expect(text).toContain("RSS 400 MB is above 300 MB")
  })
})
