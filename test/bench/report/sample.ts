import type { Run } from "../../../bench/load/run.ts"
import type { Results, ScenarioResult } from "../../../bench/report/results.ts"

export function sampleRun(ratePerSecond: number, changes: Partial<Run> = {}): Run {
  return {
    seconds: 1,
    completed: ratePerSecond,
    ratePerSecond,
    latency: {
      meanMs: 1,
      p50Ms: 1,
      p90Ms: 2,
      p99Ms: 3,
      p999Ms: 4,
      p9999Ms: 5,
      maxMs: 6,
      curve: [
        [0, 0.5],
        [50, 1],
        [99, 3],
        [100, 6],
      ],
    },
    errors: {},
    generator: { cpuShare: 0.5 },
    othersCpuShare: 0,
    server: { cpuShare: 1, cpuMicrosPerOperation: 20, databaseCpuMicrosPerOperation: 0, rssMb: 80 },
    ...changes,
  }
}

export const sampleScenario = (changes: Partial<ScenarioResult> = {}): ScenarioResult => ({
  name: "lookup",
  summary: "a lookup",
  connections: 64,
  sides: [{ name: "service", peak: [sampleRun(1_000)], atRate: [] }],
  ratios: [],
  ...changes,
})

const machine = { platform: "linux arm64", cpu: "some cpu", cores: 2, memoryGb: 8 }

export const begunAt: Pick<Results, "at" | "machine" | "method"> = {
  at: "2026-01-02T03:04:05.678Z",
  machine: { ...machine, loadAtStart: 0.1 },
  method: { name: "short", windowSeconds: 1.5, windows: 3 },
}

export const sampleResults = (...scenarios: ScenarioResult[]): Results => ({
  format: 1,
  at: begunAt.at,
  commit: "abc1234",
  node: "20.0.0",
  machine,
  flags: [],
  scenarios,
})
