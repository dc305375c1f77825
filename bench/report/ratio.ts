import type { Run } from "../load/run.ts"
import type { Aim, Metric, Scenario } from "../scenario.ts"
import { isDisturbed } from "./disturbance.ts"
import { isFailing } from "./failing.ts"
import { isGeneratorLimited } from "./generator-limit.ts"
import type { Ratio, SideResult } from "./results.ts"
import { spreadOf } from "./spread.ts"

/** Each run of the subject over the opponent's run beside it, so that what slowed both cancels out. */
export function ratiosOf(scenario: Scenario, sides: readonly SideResult[]): Ratio[] {
  const [subject, ...opponents] = sides
  if (subject === undefined) return []
  return opponents.flatMap((opponent) => {
    const aims = scenario.against.find(({ side }) => side.name === opponent.name)?.aims ?? []
    const usual: readonly Metric[] = subject.peak.length > 0 ? ["rate", "cpu"] : ["p99", "cpu"]
    const wanted = new Set([...usual, ...aims.map(({ metric }) => metric)])
    return [...wanted].flatMap((metric) =>
      ratioOf(
        subject,
        opponent,
        metric,
        aims.find((aim) => aim.metric === metric),
      ),
    )
  })
}

function ratioOf(subject: SideResult, opponent: SideResult, metric: Metric, aim: Aim | undefined): Ratio[] {
  const [ours, theirs] =
    subject.peak.length > 0 ? [subject.peak, opponent.peak] : [subject.atRate, opponent.atRate]
  const values = pairs(metric, ours, theirs, (mine, other) =>
    aim?.isDifference ? mine - other : mine / other,
  )
  if (values.length === 0) return []
  const value = spreadOf(values)
  if (aim === undefined) return [{ against: opponent.name, metric, value }]
  const kind = aim.isDifference ? { isDifference: true as const } : {}
  const verdict = judge(metric, aim, value.median, ours, theirs)
  return [{ against: opponent.name, metric, value, ...kind, aim: describeAim(aim), ...verdict }]
}

function judge(
  metric: Metric,
  aim: Aim,
  value: number,
  ours: readonly Run[],
  theirs: readonly Run[],
): Pick<Ratio, "met" | "byCpuTime"> {
  const isUntouched = metric === "cpu" || metric === "memory"
  if (!isUntouched && isDisturbed([...ours, ...theirs])) return {}
  const met = isMet(aim, value) && !isFailing(ours) && !isFailing(theirs)
  if (!met || metric !== "rate" || !isGeneratorLimited(theirs)) return { met }
  // An opponent that could have done more makes the ratio of rates too good. What a core delivers is known all the same.
  const perCore = pairs("cpu", ours, theirs, (mine, other) => other / mine)
  return perCore.length === 0 ? {} : { met: isMet(aim, spreadOf(perCore).median), byCpuTime: true }
}

/** Of each run and the opponent's beside it, where both have the figure. */
const pairs = (
  metric: Metric,
  ours: readonly Run[],
  theirs: readonly Run[],
  compare: (mine: number, other: number) => number,
): number[] =>
  ours.flatMap((run, i) => {
    const [mine, other] = [figureOf(metric, run), figureOf(metric, theirs[i])]
    if (mine === undefined || other === undefined) return []
    const value = compare(mine, other)
    return Number.isFinite(value) ? [value] : []
  })

export function figureOf(metric: Metric, run: Run | undefined): number | undefined {
  if (metric === "rate") return run?.ratePerSecond
  if (metric === "cpu") return run?.server?.cpuMicrosPerOperation
  if (metric === "memory") return run?.server?.socketKb
  return run?.latency.p99Ms
}

const isMet = (aim: Aim, value: number): boolean =>
  value >= (aim.atLeast ?? Number.NEGATIVE_INFINITY) && value <= (aim.atMost ?? Number.POSITIVE_INFINITY)

const describeAim = ({ atLeast, atMost }: Aim): string =>
  [atLeast === undefined ? "" : `≥ ${atLeast}`, atMost === undefined ? "" : `≤ ${atMost}`]
    .filter(Boolean)
    .join(", ")
