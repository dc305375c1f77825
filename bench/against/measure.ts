import type { Run } from "../load/run.ts"
import { buildService, serviceNodeFlags } from "../process/bundle.ts"
import type { Scenario } from "../scenario.ts"
import { buildCommit, type Commit } from "./checkout.ts"
import { type ComparedSide, startComparedSide } from "./compared-side.ts"
import type { AgainstFlags } from "./flags.ts"

const defaultConnections = 64
const defaultWarmupSeconds = 1
const timeoutSeconds = 5
const buildSeconds = 10
const storeSeconds = 15
const restartSeconds = 4

/** The runs of one scenario on both sides. Runs with the same index belong to the same pair. */
export interface ComparedRuns {
  readonly scenario: Scenario
  readonly ours: Run[]
  readonly theirs: Run[]
}

export interface Names {
  readonly ours: string
  readonly theirs: string
}

/**
 * Measures all pairs. Each pair restarts both services, because speed varies between process starts. Within a pair,
 * each scenario is measured on one side and directly afterwards on the other, so that noise affects both. The order
 * of the sides alternates.
 */
export async function measurePairs(
  commit: Commit,
  names: Names,
  flags: AgainstFlags,
  onStep: (step: string) => void,
): Promise<readonly ComparedRuns[]> {
  const theirBuild = await buildCommit(commit, onStep)
  onStep("building this commit")
  const ourBuild = { program: buildService(), nodeFlags: serviceNodeFlags() }
  const running: ComparedSide[] = []
  try {
    for (const [name, build] of [
      [names.ours, ourBuild],
      [names.theirs, theirBuild],
    ] as const) {
      onStep(`storing data: ${name}`)
      running.push(await startComparedSide(name, () => build))
    }
    const results = flags.scenarios.map((scenario) => ({ scenario, ours: [], theirs: [] }))
    for (let pair = 0; pair < flags.pairs; pair++) await measurePair(pair, running, results, flags, onStep)
    return results
  } finally {
    for (const side of running) await side.stop()
  }
}

async function measurePair(
  pair: number,
  [ours, theirs]: readonly ComparedSide[],
  results: readonly ComparedRuns[],
  { pairs, seconds }: AgainstFlags,
  onStep: (step: string) => void,
): Promise<void> {
  if (ours === undefined || theirs === undefined) return
  onStep(`pair ${pair + 1} of ${pairs}: starting both`)
  for (const side of inTurn(pair, ours, theirs)) await side.restart()
  for (const [place, { scenario, ...runs }] of results.entries()) {
    for (const side of inTurn(pair + place, ours, theirs)) {
      onStep(`pair ${pair + 1} of ${pairs}: ${scenario.name}, ${side.name}`)
      const run = await side.measure(scenario, {
        connections: scenario.connections ?? defaultConnections,
        warmupSeconds: warmupOf(scenario),
        durationSeconds: seconds,
        timeoutSeconds,
      })
      runs[side === ours ? "ours" : "theirs"].push(run)
    }
  }
}

/**
 * Returns the two values in an order that alternates from turn to turn: A B, B A, A B. The order alternates because
 * the second run may have an advantage or a disadvantage.
 */
const inTurn = <A>(turn: number, first: A, second: A): readonly A[] =>
  turn % 2 === 0 ? [first, second] : [second, first]

const warmupOf = ({ firstWarmupSeconds }: Scenario): number => firstWarmupSeconds ?? defaultWarmupSeconds

/** Returns the estimated duration of all pairs in seconds, for the progress line. */
export const estimatePairsSeconds = ({ pairs, scenarios, seconds }: AgainstFlags): number => {
  const runs = scenarios.reduce((sum, scenario) => sum + 2 * (warmupOf(scenario) + seconds + 0.5), 0)
  return buildSeconds + 2 * storeSeconds + pairs * (2 * restartSeconds + runs)
}
