import type { Run } from "./load/run.ts"
import { ratiosOf } from "./report/ratio.ts"
import type { ScenarioResult } from "./report/results.ts"
import { median } from "./report/spread.ts"
import { type RunningSide, startSide } from "./running-side.ts"
import type { Opponent, Scenario } from "./scenario.ts"
import { type Entry, takeTurn } from "./turns.ts"

const defaultConnections = 64
const warmupSeconds = 0.3
const timeoutSeconds = 5
const startSeconds = 2.5
/**
 * The constant rates of a sweep, as shares of the subject's peak rate. All sides use the same rates, so that
 * their latency curves are comparable. A side is not measured at a rate above its own peak rate.
 */
const defaultSweepShares = [0.25, 0.5, 0.75, 0.9]

export interface SuiteOptions {
  readonly connections?: number | undefined
  readonly ratePerSecond?: number | undefined
  readonly durationSeconds: number
  readonly runs: number
  /** The maximum number of times that a turn is repeated because other programs used the machine. */
  readonly retakes: number
  readonly sweepShares?: readonly number[]
  /** Called before every start and every run, with a description for the progress line. */
  readonly onStep: (step: string) => void
}

/**
 * Measures one scenario. All sides stay started during the scenario and take turns in being measured, so that noise
 * affects all of them.
 */
export async function measureScenario(scenario: Scenario, options: SuiteOptions): Promise<ScenarioResult> {
  const running: RunningSide[] = []
  try {
    const entries: Entry[] = []
    for (const { share = 1, side, firstWarmupSeconds } of participantsOf(scenario)) {
      options.onStep(`${scenario.name}: starting ${side.name}`)
      const started = await startSide(scenario, side)
      running.push(started)
      entries.push({ side: started, share, firstWarmupSeconds, peak: [], atRate: [], isFresh: true })
    }
    await measureEntries(scenario, entries, options)
    const sides = entries.map(({ side, peak, atRate }) => ({ name: side.name, peak, atRate }))
    return {
      name: scenario.name,
      summary: scenario.summary,
      connections: connectionsOf(scenario, options),
      ...(scenario.stored && { stored: scenario.stored }),
      ...(scenario.rssLimitMb !== undefined && { rssLimitMb: scenario.rssLimitMb }),
      sides,
      ratios: ratiosOf(scenario, sides),
    }
  } finally {
    for (const side of running.reverse()) await side.stop()
  }
}

/** Returns all sides of the scenario: the subject, its opponents, and the two bare servers of each `beyond`. */
const participantsOf = ({ subject, against }: Scenario): readonly Opponent[] => [
  { side: subject },
  ...against,
  ...against.flatMap(({ beyond }) => (beyond ? [beyond.subject, beyond.side].map((side) => ({ side })) : [])),
]

async function measureEntries(
  scenario: Scenario,
  entries: readonly Entry[],
  options: SuiteOptions,
): Promise<void> {
  const { retakes, durationSeconds } = options
  const ratePerSecond = options.ratePerSecond ?? scenario.ratePerSecond
  const runs = runsOf(scenario, options)
  const plan = {
    connections: connectionsOf(scenario, options),
    warmupSeconds,
    durationSeconds,
    timeoutSeconds,
    ...(scenario.firstWarmupSeconds !== undefined && { firstWarmupSeconds: scenario.firstWarmupSeconds }),
  }
  const report = (label: string) => (side: string) => options.onStep(`${scenario.name}: ${label}, ${side}`)

  if (ratePerSecond !== undefined) {
    const atRate = { ...plan, ratePerSecond }
    for (let run = 1; run <= runs; run++) {
      await takeTurn(entries, "atRate", atRate, retakes, report(`${ratePerSecond}/s run ${run} of ${runs}`))
    }
    return
  }
  for (let run = 1; run <= runs; run++) {
    if (scenario.fresh && run > 1) await renewAll(entries, report("restarting"))
    await takeTurn(entries, "peak", plan, retakes, report(`peak run ${run} of ${runs}`))
  }
  for (const rate of sweepRates(scenario, peakOf(entries[0]), options.sweepShares)) {
    // A side cannot serve more than its peak rate. At a higher rate its requests would only form a queue, so it is
    // not measured.
    const capable = entries.filter((entry) => peakOf(entry) >= rate)
    await takeTurn(capable, "atRate", { ...plan, ratePerSecond: rate }, 0, report(`sweep at ${rate}/s`))
  }
}

async function renewAll(entries: readonly Entry[], onStep: (side: string) => void): Promise<void> {
  for (const entry of entries) {
    const { name, renew } = entry.side
    if (renew === undefined) continue
    onStep(name)
    await renew()
    entry.isFresh = true
  }
}

const connectionsOf = (scenario: Scenario, options: SuiteOptions): number =>
  options.connections ?? scenario.connections ?? defaultConnections

const runsOf = (scenario: Scenario, { runs }: Pick<SuiteOptions, "runs">): number =>
  Math.min(runs, scenario.runs ?? runs)

const peakOf = (entry: { readonly peak: readonly Run[] } | undefined): number =>
  median(entry?.peak.map((run) => run.ratePerSecond) ?? [])

/** Returns the estimated duration of the scenario in seconds, for the progress line. */
export const estimateSeconds = (
  scenario: Scenario,
  options: Pick<SuiteOptions, "durationSeconds" | "runs" | "ratePerSecond">,
) => {
  const sides = participantsOf(scenario).length
  const rate = options.ratePerSecond ?? scenario.ratePerSecond
  const sweeps = rate === undefined ? sweepRates(scenario, 1e6).length : 0
  const runs = runsOf(scenario, options)
  const turns = runs + sweeps
  const starts = scenario.fresh && rate === undefined ? runs : 1
  const measuring = sides * (starts * startSeconds + turns * (options.durationSeconds + warmupSeconds))
  return (scenario.setupSeconds ?? 0) + measuring
}

const sweepRates = (
  scenario: Scenario,
  peak: number,
  shares: readonly number[] = defaultSweepShares,
): number[] =>
  scenario.sweep ? shares.map((share) => Math.floor(peak * share)).filter((rate) => rate >= 1) : []
