import { describe, expect, it } from "vitest"
import type { LoadPlan } from "../../bench/load/lane.ts"
import { takeTurn } from "../../bench/turns.ts"
import { sampleRun } from "./report/sample.ts"

/** Returns a simulated server. `disturbances` has, for each of its runs, the number of cores that other programs used. */
function side(name: string, disturbances: number[]) {
  const left = [...disturbances]
  return {
    name,
    measure: async () => sampleRun(left.length, { othersCpuShare: left.shift() ?? 0 }),
    stop: async () => {},
  }
}

const plan = { connections: 1, warmupSeconds: 0, durationSeconds: 1, timeoutSeconds: 1 }
const unmeasured = { share: 1, peak: [], atRate: [], isFresh: true }
const turn = async (ours: number[], theirs: number[], retakes: number) => {
  const entries = [side("ours", ours), side("theirs", theirs)].map((one) => ({
    ...unmeasured,
    side: one,
    peak: [],
  }))
  const steps: string[] = []
  await takeTurn(entries, "peak", plan, retakes, (step) => steps.push(step))
  return {
    steps,
    stored: entries.map(({ peak }: { peak: { othersCpuShare: number }[] }) =>
      peak.map((run) => run.othersCpuShare),
    ),
  }
}

describe("a turn of the bench (one run of each server)", () => {
  it("has a longer warm-up only in the first run after a server starts", async () => {
    const warmups: number[] = []
    const measure = async ({ warmupSeconds }: { readonly warmupSeconds: number }) => {
      warmups.push(warmupSeconds)
      return sampleRun(1, {})
    }
    const entry = { ...unmeasured, side: { ...side("ours", []), measure }, peak: [] }
    const take = () => takeTurn([entry], "peak", { ...plan, firstWarmupSeconds: 7 }, 0, () => {})
    await take()
    await take()
    entry.isFresh = true
    await take()
    expect(warmups).toEqual([7, 0, 7])
    Object.assign(entry, { firstWarmupSeconds: 3, isFresh: true })
    await take()
    await take()
    expect(warmups).toEqual([7, 0, 7, 3, 0])
  })

  it("gives each server its share of the connections and the rate", async () => {
    const loads: unknown[] = []
    const measure = async ({ connections, ratePerSecond }: LoadPlan) => {
      loads.push({ connections, ratePerSecond })
      return sampleRun(1, {})
    }
    const entries = [1, 0.5].map((share) => ({
      ...unmeasured,
      share,
      side: { ...side("ours", []), measure },
      atRate: [],
    }))
    await takeTurn(entries, "atRate", { ...plan, connections: 64, ratePerSecond: 1000 }, 0, () => {})
    expect(loads).toEqual([
      { connections: 64, ratePerSecond: 1000 },
      { connections: 32, ratePerSecond: 500 },
    ])
  })

  it("is not repeated on a quiet machine", async () => {
    const { steps, stored } = await turn([0.01], [0.02], 2)
    expect(steps).toEqual(["ours", "theirs"])
    expect(stored).toEqual([[0.01], [0.02]])
  })

  it("is repeated for all servers if other programs disturbed the run of one server", async () => {
    const { steps, stored } = await turn([0, 0.1], [0.9, 0.05], 2)
    expect(steps).toHaveLength(4)
    expect(stored).toEqual([[0.1], [0.05]])
  })

  it("keeps the attempt with the least disturbance by other programs", async () => {
    const { steps, stored } = await turn([0.9, 0.3], [0.9, 0.4], 1)
    expect(steps).toHaveLength(4)
    expect(stored).toEqual([[0.3], [0.4]])
  })
})
