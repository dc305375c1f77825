import type { Run } from "../load/run.ts"
import { failedShareOf, isFailing } from "./failing.ts"
import type { Results, ScenarioResult, SideResult } from "./results.ts"
import { type Spread, spreadOf } from "./spread.ts"
import { loadsOf, opponentOf } from "./table.ts"

/**
 * Relative differences below these limits are not reported, even if the runs vary less. For example, 0.05 means 5 %.
 */
const leastChange = { ratio: 0.05, rate: 0.1, cpu: 0.05, latency: 0.2 }
/** If there is only one run, its figure is assumed to vary by this share in both directions. */
const unknownNoise = 0.1

type Direction = "higher is better" | "lower is better"

export interface Change {
  readonly figure: string
  readonly before: number
  readonly after: number
  /** Positive if the figure got worse, negative if it got better: 0.1 means 10 % worse. */
  readonly worseBy: number
}

export interface Comparison {
  readonly slower: readonly Change[]
  readonly faster: readonly Change[]
  readonly compared: number
  /** The sides of the later results with too many failed operations. Their scenarios are not compared. */
  readonly failing: readonly string[]
  readonly missing: readonly string[]
}

/**
 * Compares two results, `before` and `after`. A change of a figure is reported if it is large enough and the ranges
 * of the runs do not overlap.
 */
export function compare(before: Results, after: Results): Comparison {
  const slower: Change[] = []
  const faster: Change[] = []
  const failing: string[] = []
  const missing: string[] = []
  let compared = 0
  for (const scenario of after.scenarios) {
    const earlier = before.scenarios.find(({ name }) => name === scenario.name)
    if (earlier === undefined) {
      missing.push(scenario.name)
      continue
    }
    const broken = failuresOf(scenario)
    failing.push(...broken)
    if (broken.length > 0 || failuresOf(earlier).length > 0) continue
    for (const [figure, now] of figuresOf(scenario)) {
      const then = figuresOf(earlier).get(figure)
      if (then === undefined) continue
      compared++
      const change = changeOf(figure, then, now)
      if (change === undefined) continue
      if (change.worseBy > 0) slower.push(change)
      else faster.push(change)
    }
  }
  return { slower, faster, compared, failing, missing }
}

const failuresOf = ({ name, sides }: ScenarioResult): string[] =>
  sides
    .filter(({ peak, atRate }) => isFailing([...peak, ...atRate]))
    .map(
      (side) =>
        `${name}, ${side.name}: ${(failedShareOf([...side.peak, ...side.atRate]) * 100).toFixed(0)} % failed`,
    )

interface Figure {
  readonly spread: Spread
  readonly runs: number
  readonly direction: Direction
  readonly leastChange: number
}

function figuresOf(scenario: ScenarioResult): Map<string, Figure> {
  const figures = new Map<string, Figure>()
  const runs = Math.max(...scenario.sides.map((side) => side.peak.length || side.atRate.length), 1)
  for (const ratio of scenario.ratios) {
    const { metric, value } = ratio
    const direction = metric === "rate" ? "higher is better" : "lower is better"
    const name = `${scenario.name}: ${metric} ratio to ${opponentOf(ratio)}`
    figures.set(name, { spread: value, runs, direction, leastChange: leastChange.ratio })
  }
  const [subject] = scenario.sides
  if (subject !== undefined)
    for (const [name, figure] of sideFigures(scenario, subject)) figures.set(name, figure)
  return figures
}

/**
 * Returns the figures of a side for each load. It is called only for the subject, because a slower baseline only
 * shows that the machine was slower. The rates of a sweep depend on the measured peak rate, so two results rarely
 * contain the same rate. Figures at different rates are not compared.
 */
function sideFigures(scenario: ScenarioResult, side: SideResult): [string, Figure][] {
  return loadsOf(side).flatMap((runs) => {
    const offered = runs[0]?.offeredPerSecond
    const at = `${scenario.name}, ${side.name} at ${offered === undefined ? "peak" : `${offered}/s`}`
    const figure = (
      label: string,
      pick: (run: Run) => number | undefined,
      direction: Direction,
      least: number,
    ) => {
      const values = runs.flatMap((run) => pick(run) ?? [])
      if (values.length === 0) return []
      const one: Figure = { spread: spreadOf(values), runs: values.length, direction, leastChange: least }
      return [[`${at}: ${label}`, one] satisfies [string, Figure]]
    }
    return [
      ...(offered === undefined
        ? figure("operations per second", (run) => run.ratePerSecond, "higher is better", leastChange.rate)
        : figure("p99 ms", (run) => run.latency.p99Ms, "lower is better", leastChange.latency)),
      ...figure(
        "CPU µs per operation",
        (run) => run.server?.cpuMicrosPerOperation,
        "lower is better",
        leastChange.cpu,
      ),
    ]
  })
}

function changeOf(name: string, before: Figure, after: Figure): Change | undefined {
  if (before.spread.median === 0) return undefined
  const [then, now] = [rangeOf(before), rangeOf(after)]
  if (then.min <= now.max && now.min <= then.max) return undefined
  const growth = after.spread.median / before.spread.median - 1
  if (Math.abs(growth) < after.leastChange) return undefined
  return {
    figure: name,
    before: before.spread.median,
    after: after.spread.median,
    worseBy: after.direction === "higher is better" ? -growth : growth,
  }
}

const rangeOf = ({ spread, runs }: Figure): { min: number; max: number } =>
  runs > 1 ? spread : { min: spread.median * (1 - unknownNoise), max: spread.median * (1 + unknownNoise) }

export function describe(comparison: Comparison, since: string): string {
  const line = ({ figure, before, after, worseBy }: Change) =>
    `  ${figure}: ${round(before)} → ${round(after)} (${worseBy > 0 ? "worse" : "better"} by ${Math.abs(worseBy * 100).toFixed(0)} %)`
  const { slower, faster, compared, failing, missing } = comparison
  return [
    `Compared with ${since}: ${slower.length} slower, ${faster.length} faster of ${compared} figures.`,
    ...(slower.length > 0 ? ["Slower beyond noise:", ...slower.map(line)] : []),
    ...(faster.length > 0 ? ["Faster beyond noise:", ...faster.map(line)] : []),
    ...(failing.length > 0
      ? ["Not compared because operations failed:", ...failing.map((one) => `  ${one}`)]
      : []),
    ...(missing.length > 0 ? [`Not in the earlier file: ${missing.join(", ")}.`] : []),
  ].join("\n")
}

const round = (value: number): string => String(Number(value.toPrecision(4)))
