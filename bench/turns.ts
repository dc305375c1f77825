import type { LoadPlan } from "./load/lane.ts"
import type { Run } from "./load/run.ts"
import { sleepSeconds } from "./load/wait.ts"
import { disturbanceOf, isDisturbed } from "./report/disturbance.ts"
import type { RunningSide } from "./running-side.ts"

const firstWarmupSeconds = 1
const pauseSeconds = 1

export interface Entry {
  readonly side: RunningSide
  /** Of the load, 0 to 1. */
  readonly share: number
  /** Instead of the plan's. */
  readonly firstWarmupSeconds?: number | undefined
  readonly peak: Run[]
  readonly atRate: Run[]
  /** Not measured since it started. */
  isFresh: boolean
}

/**
 * One run of each side, straight after one another. While others keep the machine busy the turn is taken again, all
 * sides together so that the pairs stay pairs; the quietest attempt is kept.
 */
export async function takeTurn(
  entries: readonly Entry[],
  into: "peak" | "atRate",
  plan: LoadPlan,
  retakes: number,
  onStep: (step: string) => void,
): Promise<void> {
  let quietest: Run[] | undefined
  for (let attempt = 0; attempt <= retakes; attempt++) {
    if (attempt > 0) await sleepSeconds(pauseSeconds)
    const runs: Run[] = []
    for (const entry of entries) {
      const { isFresh, share, side } = entry
      onStep(attempt === 0 ? side.name : `${side.name}, again because the machine was busy`)
      entry.isFresh = false
      const first = entry.firstWarmupSeconds ?? plan.firstWarmupSeconds ?? firstWarmupSeconds
      const warmupSeconds = isFresh ? first : plan.warmupSeconds
      runs.push(await side.measure(withShare({ ...plan, warmupSeconds }, share)))
    }
    if (quietest === undefined || disturbanceOf(runs) < disturbanceOf(quietest)) quietest = runs
    if (!isDisturbed(quietest)) break
  }
  for (const [i, run] of (quietest ?? []).entries()) entries[i]?.[into].push(run)
}

const withShare = (plan: LoadPlan, share: number): LoadPlan => ({
  ...plan,
  connections: Math.max(1, Math.round(plan.connections * share)),
  ...(plan.ratePerSecond !== undefined && { ratePerSecond: plan.ratePerSecond * share }),
})
