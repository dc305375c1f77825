import type { LoadPlan } from "./load/lane.ts"
import type { Run } from "./load/run.ts"
import { sleepSeconds } from "./load/wait.ts"
import { disturbanceOf, isDisturbed, lateAboveMs, latenessOf } from "./report/disturbance.ts"
import type { RunningSide } from "./running-side.ts"

const firstWarmupSeconds = 1
const pauseSeconds = 1

export interface Entry {
  readonly side: RunningSide
  /** The share of the plan's connections and rate that this side gets, from 0 to 1. */
  readonly share: number
  /** The warm-up before this side's first run after a start. It overrides the plan's `firstWarmupSeconds`. */
  readonly firstWarmupSeconds?: number | undefined
  readonly peak: Run[]
  readonly atRate: Run[]
  /** True from a start of the side until its first run. */
  isFresh: boolean
}

/**
 * Measures one run of each side, one directly after the other. If other programs used the machine or the generator was
 * stopped, all sides are measured again, at most `retakes` times, so that the runs of one turn stay comparable. The attempt with the least
 * disturbance is stored in the entries.
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
      onStep(attempt === 0 ? side.name : `${side.name}, repeated because the machine was busy`)
      entry.isFresh = false
      const first = entry.firstWarmupSeconds ?? plan.firstWarmupSeconds ?? firstWarmupSeconds
      const warmupSeconds = isFresh ? first : plan.warmupSeconds
      runs.push(await side.measure(withShare({ ...plan, warmupSeconds }, share)))
    }
    if (quietest === undefined || disorderOf(runs) < disorderOf(quietest)) quietest = runs
    if (!isDisturbed(quietest) && !isLate(quietest)) break
  }
  for (const [i, run] of (quietest ?? []).entries()) entries[i]?.[into].push(run)
}

const isLate = (runs: readonly Run[]): boolean => latenessOf(runs) > lateAboveMs

/** Orders attempts. One in which the generator was stopped is worse than any other. */
const disorderOf = (runs: readonly Run[]): number =>
  disturbanceOf(runs) + (isLate(runs) ? latenessOf(runs) : 0)

const withShare = (plan: LoadPlan, share: number): LoadPlan => ({
  ...plan,
  connections: Math.max(1, Math.round(plan.connections * share)),
  ...(plan.ratePerSecond !== undefined && { ratePerSecond: plan.ratePerSecond * share }),
})
