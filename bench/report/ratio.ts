import type { Run } from "../load/run.ts"
import type { Aim, Metric, Scenario } from "../scenario.ts"
import { isDisturbed } from "./disturbance.ts"
import { isFailing } from "./failing.ts"
import { isGeneratorLimited } from "./generator-limit.ts"
import type { Ratio, SideResult } from "./results.ts"
import { spreadOf } from "./spread.ts"

/**
 * Returns the ratios of the subject to its opponents. Each run of the subject is divided by the opponent's run of the
 * same turn, so that disturbances of both runs cancel out.
 */
export function ratiosOf(scenario: Scenario, sides: readonly SideResult[]): Ratio[] {
  const named = (name: string | undefined) => sides.find((side) => side.name === name)
  return scenario.against.flatMap(({ side, aims = [], beyond }) => {
    const pair = pairOf(named(scenario.subject.name), named(side.name))
    const bare = pairOf(named(beyond?.subject.name), named(beyond?.side.name))
    if (pair === undefined) return []
    if (bare === undefined) return ratiosOfPair(pair, aims)
    const judged = aims.flatMap((aim) => [
      ...ratioOf(bare, aim.metric).map((ratio) => ({ of: bare.ours.name, ...ratio })),
      ...ratioOf(pair, aim.metric, aim, bare),
    ])
    return [...ratiosOfPair(pair, []), ...judged]
  })
}

interface Pair {
  readonly ours: SideResult
  readonly theirs: SideResult
}

const pairOf = (ours: SideResult | undefined, theirs: SideResult | undefined): Pair | undefined =>
  ours && theirs && { ours, theirs }

const runsOf = ({ ours, theirs }: Pair): readonly [readonly Run[], readonly Run[]] =>
  ours.peak.length > 0 ? [ours.peak, theirs.peak] : [ours.atRate, theirs.atRate]

function ratiosOfPair(pair: Pair, aims: readonly Aim[]): Ratio[] {
  const usual: readonly Metric[] = pair.ours.peak.length > 0 ? ["rate", "cpu"] : ["p99", "cpu"]
  const wanted = new Set([...usual, ...aims.map(({ metric }) => metric)])
  return [...wanted].flatMap((metric) =>
    ratioOf(
      pair,
      metric,
      aims.find((aim) => aim.metric === metric),
    ),
  )
}

/**
 * Returns the ratio of one metric, or an empty list if the runs do not contain the metric. If `bare` is given, the
 * ratio of each turn is divided by the ratio of the two bare servers in that turn.
 */
function ratioOf(pair: Pair, metric: Metric, aim?: Aim, bare?: Pair): Ratio[] {
  const [ours, theirs] = runsOf(pair)
  const [bareOurs, bareTheirs] = bare === undefined ? [[], []] : runsOf(bare)
  const bareRatio = (turn: number) =>
    bare === undefined ? 1 : figureOf(metric, bareOurs[turn]) / figureOf(metric, bareTheirs[turn])
  const values = pairs(metric, ours, theirs, (mine, other, turn) =>
    aim?.isDifference ? mine - other : mine / other / bareRatio(turn),
  )
  if (values.length === 0) return []
  const value = spreadOf(values)
  const beyond = bare && { beyond: `${bare.ours.name} against ${bare.theirs.name}` }
  const kind = aim?.isDifference && { isDifference: true as const }
  const verdict = aim && {
    aim: describeAim(aim),
    ...judge(metric, aim, value.median, [...ours, ...bareOurs], [...theirs, ...bareTheirs]),
  }
  return [{ against: pair.theirs.name, ...beyond, metric, value, ...kind, ...verdict }]
}

function judge(
  metric: Metric,
  aim: Aim,
  value: number,
  ours: readonly Run[],
  theirs: readonly Run[],
): Pick<Ratio, "met" | "byCpuTime"> {
  const isRobust = metric === "cpu" || metric === "memory"
  if (!isRobust && isDisturbed([...ours, ...theirs])) return {}
  const met = isMet(aim, value) && !isFailing(ours) && !isFailing(theirs)
  if (!met || metric !== "rate" || !isGeneratorLimited(theirs)) return { met }
  // If the generator limits the opponent, the ratio of rates is too high. The CPU time per operation is still valid,
  // so the aim is judged by it.
  const perCore = pairs("cpu", ours, theirs, (mine, other) => other / mine)
  return perCore.length === 0 ? {} : { met: isMet(aim, spreadOf(perCore).median), byCpuTime: true }
}

/**
 * Applies `compare` to the two runs of each turn and returns the results. Turns in which a run does not contain the
 * figure are omitted.
 */
const pairs = (
  metric: Metric,
  ours: readonly Run[],
  theirs: readonly Run[],
  compare: (mine: number, other: number, turn: number) => number,
): number[] =>
  ours
    .map((run, turn) => compare(figureOf(metric, run), figureOf(metric, theirs[turn]), turn))
    .filter(Number.isFinite)

/** Returns the figure of the metric, or NaN if the run does not contain it. */
function figureOf(metric: Metric, run: Run | undefined): number {
  const figures = {
    rate: run?.ratePerSecond,
    cpu: run?.server?.cpuMicrosPerOperation,
    memory: run?.server?.socketKb,
    p50: run?.latency.p50Ms,
    p99: run?.latency.p99Ms,
  }
  return figures[metric] ?? Number.NaN
}

const isMet = (aim: Aim, value: number): boolean =>
  value >= (aim.atLeast ?? Number.NEGATIVE_INFINITY) && value <= (aim.atMost ?? Number.POSITIVE_INFINITY)

const describeAim = ({ atLeast, atMost }: Aim): string =>
  [atLeast === undefined ? "" : `≥ ${atLeast}`, atMost === undefined ? "" : `≤ ${atMost}`]
    .filter(Boolean)
    .join(", ")
