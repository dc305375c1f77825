import type { LoadPlan } from "./load/lane.ts"
import { ratiosOf } from "./report/ratio.ts"
import type { ScenarioResult, SideResult } from "./report/results.ts"
import { median } from "./report/spread.ts"
import { type RunningSide, startSide } from "./running-side.ts"
import type { Opponent, Scenario } from "./scenario.ts"
import { type Entry, takeTurn } from "./turns.ts"

const defaultConnections = 64
const warmupSeconds = 0.3
/** The shortest warm-up of a side that was just started, for figures that are published. */
const defaultFreshWarmupSeconds = 5
const timeoutSeconds = 5
const startSeconds = 2.5
/**
 * The constant rates of a sweep, as shares of the subject's peak rate. All sides use the same rates, so that
 * their latency curves are comparable. A side is not measured at a rate above its own peak rate.
 */
const defaultSweepShares = [0.5, 0.75, 0.9]
const publishedSweepShares = [0.25, ...defaultSweepShares]

export interface SuiteOptions {
  readonly connections?: number | undefined
  readonly ratePerSecond?: number | undefined
  readonly durationSeconds: number
  readonly runs: number
  /** The maximum number of times that a turn is repeated because other programs used the machine. */
  readonly retakes: number
  readonly sweepShares?: readonly number[]
  /** If true, every run has a fresh start of all servers and their databases. */
  readonly freshStarts?: boolean
  /** The shortest warm-up after such a start. */
  readonly freshWarmupSeconds?: number
  /** Called before every start and every run, with a description for the progress line. */
  readonly onStep: (step: string) => void
}

/**
 * Measures one scenario. All sides stay started during the scenario and take turns in being measured, so that noise
 * affects all of them. With `freshStarts`, this is repeated for each run, with a new start of all sides and databases.
 */
export async function measureScenario(scenario: Scenario, options: SuiteOptions): Promise<ScenarioResult> {
  const sides = options.freshStarts
    ? await measureFresh(scenario, options)
    : await measureStarted(scenario, options)
  return {
    name: scenario.name,
    summary: scenario.summary,
    connections: connectionsOf(scenario, options),
    ...(scenario.stored && { stored: scenario.stored }),
    ...(scenario.rssLimitMb !== undefined && { rssLimitMb: scenario.rssLimitMb }),
    sides,
    ratios: ratiosOf(scenario, sides),
  }
}

async function measureFresh(scenario: Scenario, options: SuiteOptions): Promise<readonly SideResult[]> {
  let sides: readonly SideResult[] | undefined
  for (let start = 1; start <= options.runs; start++) {
    const onStep = (step: string) => options.onStep(`start ${start} of ${options.runs}: ${step}`)
    const more = await measureStarted(scenario, { ...options, runs: 1, onStep }, sides)
    sides = sides?.map((side, i) => appended(side, more[i])) ?? more
  }
  return sides ?? []
}

const appended = (side: SideResult, more: SideResult | undefined): SideResult => ({
  ...side,
  peak: [...side.peak, ...(more?.peak ?? [])],
  atRate: [...side.atRate, ...(more?.atRate ?? [])],
})

/** `earlier` has the results of earlier starts. The sweep then uses the same rates again. */
async function measureStarted(
  scenario: Scenario,
  options: SuiteOptions,
  earlier?: readonly SideResult[],
): Promise<readonly SideResult[]> {
  const running: RunningSide[] = []
  try {
    const entries: Entry[] = []
    for (const { share = 1, side, firstWarmupSeconds } of participantsOf(scenario)) {
      options.onStep(`${scenario.name}: starting ${side.name}`)
      const started = await startSide(scenario, side)
      running.push(started)
      entries.push({ side: started, share, firstWarmupSeconds, peak: [], atRate: [], isFresh: true })
    }
    await measureEntries(scenario, entries, options, earlier)
    return entries.map(({ side, peak, atRate }) => ({
      name: side.name,
      ...(side.lacks !== undefined && { lacks: side.lacks }),
      peak,
      atRate,
    }))
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
  earlier: readonly SideResult[] | undefined,
): Promise<void> {
  const { retakes } = options
  const ratePerSecond = options.ratePerSecond ?? scenario.ratePerSecond
  const runs = runsOf(scenario, options)
  const plan = planOf(scenario, options)
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
  const known: readonly PeakRuns[] = earlier ?? entries
  for (const rate of sweepRates(scenario, peakOf(known[0]), sharesOf(options))) {
    // A side cannot serve more than its peak rate. At a higher rate its requests would only form a queue, so it is
    // not measured.
    const capable = entries.filter((_, i) => peakOf(known[i]) >= rate)
    for (let run = 1; run <= runs; run++) {
      const label = report(`${rate}/s run ${run} of ${runs}`)
      await takeTurn(capable, "atRate", { ...plan, ratePerSecond: rate }, retakes, label)
    }
  }
}

const planOf = (scenario: Scenario, options: SuiteOptions): LoadPlan => {
  const { firstWarmupSeconds = 0 } = scenario
  const first = options.freshStarts
    ? Math.max(firstWarmupSeconds, options.freshWarmupSeconds ?? defaultFreshWarmupSeconds)
    : firstWarmupSeconds
  return {
    connections: connectionsOf(scenario, options),
    warmupSeconds,
    durationSeconds: options.durationSeconds,
    timeoutSeconds,
    ...(first > 0 && { firstWarmupSeconds: first }),
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

type PeakRuns = Pick<SideResult, "peak">

const peakOf = (entry: PeakRuns | undefined): number =>
  median(entry?.peak.map((run) => run.ratePerSecond) ?? [])

/** Returns the estimated duration of the scenario in seconds, for the progress line. */
export const estimateSeconds = (
  scenario: Scenario,
  options: Pick<SuiteOptions, "durationSeconds" | "freshStarts" | "runs" | "ratePerSecond" | "sweepShares">,
): number => {
  const participants = participantsOf(scenario)
  const sides = participants.length
  const rate = options.ratePerSecond ?? scenario.ratePerSecond
  const rates = rate === undefined ? sweepRates(scenario, 1e6, sharesOf(options)).length : 0
  // A side that asks a database for each request does not reach the rates of a subject that answers from memory.
  const isCapable = ({ side }: Opponent) =>
    !(scenario.fromMemory && side.kind === "server" && side.usesDatabase)
  const windows = sides + rates * participants.filter(isCapable).length
  const runs = options.freshStarts ? options.runs : runsOf(scenario, options)
  const isRestarted = options.freshStarts || (scenario.fresh && rate === undefined)
  const starting = sides * (isRestarted ? runs : 1) * startSeconds
  const warming =
    sides * (scenario.firstWarmupSeconds ?? (options.freshStarts ? defaultFreshWarmupSeconds : 1))
  const measuring = runs * windows * (options.durationSeconds + warmupSeconds)
  const setups = options.freshStarts ? runs : 1
  return setups * ((scenario.setupSeconds ?? 0) + warming) + starting + measuring
}

const sharesOf = ({ freshStarts, sweepShares }: Pick<SuiteOptions, "freshStarts" | "sweepShares">) =>
  sweepShares ?? (freshStarts ? publishedSweepShares : defaultSweepShares)

const sweepRates = (scenario: Scenario, peak: number, shares: readonly number[]): number[] =>
  scenario.sweep ? shares.map((share) => Math.floor(peak * share)).filter((rate) => rate >= 1) : []
