import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bundleProgram } from "../../bench/process/bundle.ts"
import { startChild } from "../../bench/process/child.ts"
import { newResults, readResults, writeResults } from "../../bench/report/files.ts"
import { distributionsOf } from "../../bench/report/histograms.ts"
import { baselineOnly } from "../../bench/scenarios/self-checks.ts"
import { bareUws } from "../../bench/side.ts"
import { measureScenario } from "../../bench/suite.ts"
import { inTime, patienceMs } from "../fixtures/suite/patience.ts"
import { begunAt } from "./report/sample.ts"

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "bench-test-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const cpuOf = ({ server }: { readonly server?: { readonly cpuMicrosPerOperation?: number } | undefined }) =>
  server?.cpuMicrosPerOperation ?? Number.NaN

describe("the benchmark suite", () => {
  it("measures both servers alternately and writes the results to files", async () => {
    const { result, steps } = await inTime(0.2, async (durationSeconds) => {
      const steps: string[] = []
      const result = await measureScenario(
        { ...baselineOnly, sweep: true, firstWarmupSeconds: 0.1 },
        {
          connections: 4,
          durationSeconds,
          runs: 2,
          retakes: 0,
          sweepShares: [0.05],
          onStep: (step) => steps.push(step),
        },
      )
      // CPU time is counted in steps of 10 ms. On a busy machine, a server may use less than one step, and the
      // measurement is then repeated with a longer duration.
      const isCounted = result.sides.every(({ peak }) => peak.some((run) => cpuOf(run) > 0))
      return isCounted ? { result, steps } : undefined
    })
    const turns = steps.filter((step) => step.includes("peak")).map((step) => step.endsWith("again"))
    expect(turns).toEqual([true, false, true, false])
    // The scenario sets `fresh`, so both servers are restarted before the second run.
    expect(steps.filter((step) => step.includes("restarting"))).toHaveLength(2)
    expect(result.sides).toHaveLength(2)
    for (const side of result.sides) {
      expect(side.peak).toHaveLength(2)
      expect(side.atRate.length).toBeGreaterThan(0)
      for (const run of [...side.peak, ...side.atRate]) expect(run.errors).toEqual({})
    }
    expect(result.ratios.map(({ metric }) => metric)).toEqual(["rate", "cpu"])

    const [distribution] = distributionsOf(newResults(begunAt, [], [result]))
    const operations = result.sides[0]!.peak.reduce((sum, run) => sum + run.completed, 0)
    expect(distribution?.name).toBe("baseline-only.bare-uwebsockets-js-again.peak")
    expect(distribution?.hgrm).toMatch(
      /^ +Value +Percentile TotalCount 1\/\(1-Percentile\)\n\n +[\d.]+ 0\.0{12} /,
    )
    expect(distribution?.hgrm).toMatch(new RegExp(`Total count +=  +${operations}\\]`))
    expect(distribution?.csv).toMatch(new RegExp(`^"Value".*,1\\.0{12},${operations},Infinity\n$`, "s"))

    const results = newResults(begunAt, ["--quick"], [result])
    const written = await writeResults(directory, results)
    expect(await readResults(written[0]!)).toEqual(results)
    expect((await readdir(directory)).sort()).toEqual([
      "2026-01-02T03-04-05Z.baseline-only.latency.svg",
      "2026-01-02T03-04-05Z.baseline-only.percentiles.svg",
      "2026-01-02T03-04-05Z.csv",
      "2026-01-02T03-04-05Z.histograms",
      "2026-01-02T03-04-05Z.json",
      "2026-01-02T03-04-05Z.md",
    ])
  })

  it("restarts all servers for each run of figures for publication", async () => {
    const steps: string[] = []
    const result = await measureScenario(
      { ...baselineOnly, firstWarmupSeconds: 0.1 },
      {
        connections: 4,
        durationSeconds: 0.2,
        freshStarts: true,
        freshWarmupSeconds: 0.1,
        runs: 2,
        retakes: 0,
        onStep: (step) => steps.push(step),
      },
    )
    expect(steps.filter((step) => step.includes(": starting ")).map((step) => step.slice(0, 12))).toEqual([
      "start 1 of 2",
      "start 1 of 2",
      "start 2 of 2",
      "start 2 of 2",
    ])
    expect(result.sides.map(({ peak }) => peak.length)).toEqual([2, 2])
  })

  it("rejects a results file that is missing, and a file that contains no results", async () => {
    await expect(readResults("package.json")).rejects.toThrow(/is not a results file/)
    await expect(readResults("nowhere.json")).rejects.toThrow(/cannot be read/)
  })
})

describe("a measured server", () => {
  it("has no process after it was stopped", async () => {
    const server = await bareUws().start()
    expect(existsSync(`/proc/${server.pid}`)).toBe(true)
    await server.stop()
    expect(existsSync(`/proc/${server.pid}`)).toBe(false)
  })

  it("that exits before it listens causes an error that contains the output of the server", async () => {
    const child = startChild(new URL("./fixtures/broken-server.ts", import.meta.url))
    await expect(child.next("listening", patienceMs / 1000)).rejects.toThrow(/out of order/)
  })
})

describe("the bench command", () => {
  it("reports an invalid flag in one line and exits with status 2", async () => {
    const run = fileURLToPath(bundleProgram(new URL("../../bench/run.ts", import.meta.url)))
    const command = promisify(execFile)(process.execPath, [run, "--rate", "x"])
    await expect(command).rejects.toMatchObject({
      code: 2,
      stderr: 'bench: --rate must be a whole number from 1 to 1000000, not "x" (see --help)\n',
    })
  })
})
