import type { LoadPlan } from "./load/lane.ts"
import type { Run } from "./load/run.ts"
import { sleepSeconds } from "./load/wait.ts"
import { disturbanceOf, isDisturbed } from "./report/disturbance.ts"
import type { RunningSide } from "./running-side.ts"

const firstWarmupSeconds = 1
const pauseSeconds = 1

export interface Entry {
  readonly side: RunningSide
  readonly peak: Run[]
  readonly atRate: Run[]
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
    for (const { side, peak, atRate } of entries) {
      onStep(attempt === 0 ? side.name : `${side.name}, again because the machine was busy`)
      const isFirst = peak.length + atRate.length + attempt === 0
      runs.push(
        await side.measure(
          isFirst ? { ...plan, warmupSeconds: plan.firstWarmupSeconds ?? firstWarmupSeconds } : plan,
        ),
      )
    }
    if (quietest === undefined || disturbanceOf(runs) < disturbanceOf(quietest)) quietest = runs
    if (!isDisturbed(quietest)) break
  }
  for (const [i, run] of (quietest ?? []).entries()) entries[i]?.[into].push(run)
}
