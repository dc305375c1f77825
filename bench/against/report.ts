import type { Run } from "../load/run.ts"
import { isDisturbed } from "../report/disturbance.ts"
import { failedShareOf, isFailing } from "../report/failing.ts"
import type { ComparedRuns, Names } from "./measure.ts"
import { type Judged, judge } from "./verdict.ts"

/**
 * If an operation costs less database CPU time than this many microseconds, the scenario does not use the database, and
 * the time is background work of Postgres. The figure is then omitted.
 */
const leastDatabaseMicros = 5

const figures = [
  { name: "operations per second", better: "higher", of: (run: Run) => run.ratePerSecond },
  {
    name: "server CPU per operation",
    better: "lower",
    of: (run: Run) => run.server?.cpuMicrosPerOperation ?? Number.NaN,
  },
  {
    name: "database CPU per operation",
    better: "lower",
    of: (run: Run) => {
      const micros = run.server?.databaseCpuMicrosPerOperation ?? Number.NaN
      return micros < leastDatabaseMicros ? Number.NaN : micros
    },
  },
] as const

export interface ComparedFigure extends Judged {
  readonly scenario: string
  readonly figure: string
  readonly better: "higher" | "lower"
}

export interface Comparison {
  readonly figures: readonly ComparedFigure[]
  /** One entry for each side that had too many failed operations in a scenario. That scenario is not compared. */
  readonly failures: readonly { readonly isOurs: boolean; readonly text: string }[]
  readonly runs: number
  readonly disturbed: number
}

export function compareRuns(results: readonly ComparedRuns[], names: Names): Comparison {
  const all = results.flatMap(({ ours, theirs }) => [...ours, ...theirs])
  const failures = results.flatMap(({ ours, scenario, theirs }) => [
    ...failureOf(scenario.name, names.ours, ours, true),
    ...failureOf(scenario.name, names.theirs, theirs, false),
  ])
  const sound = results.filter(({ ours, theirs }) => !isFailing(ours) && !isFailing(theirs))
  return {
    figures: sound.flatMap(({ ours, scenario, theirs }) =>
      figures.flatMap(({ better, name, of }) => {
        const judged = judge(
          ours.map((run, pair) => of(run) / (theirs[pair] === undefined ? Number.NaN : of(theirs[pair]))),
          better,
        )
        return judged === undefined ? [] : [{ scenario: scenario.name, figure: name, better, ...judged }]
      }),
    ),
    failures,
    runs: all.length,
    disturbed: all.filter((run) => isDisturbed([run])).length,
  }
}

function failureOf(scenario: string, side: string, runs: readonly Run[], isOurs: boolean) {
  if (!isFailing(runs)) return []
  const kinds = [...new Set(runs.flatMap(({ errors }) => Object.keys(errors)))].join(", ")
  const share = `${Math.round(failedShareOf(runs) * 100)} % failed`
  return [{ isOurs, text: `${scenario}, ${side}: not compared, ${share} (${kinds || "no response"})` }]
}

const hiddenLoss = 0.1
const namedAtMost = 5

/**
 * Whether a figure is too noisy: no difference was found, but its interval still includes a loss of more than 10 %.
 */
const isTooNoisy = ({ better, high, low, verdict }: ComparedFigure): boolean =>
  verdict === "no difference beyond noise" &&
  (better === "higher" ? low < 1 - hiddenLoss : high > 1 + hiddenLoss)

const namesOf = (figures: readonly ComparedFigure[]): string =>
  figures.map(({ figure, scenario }) => `${scenario} (${figure})`).join(", ")

export const hasLoss = ({ failures, figures }: Comparison): boolean =>
  failures.some(({ isOurs }) => isOurs) || figures.some(({ verdict }) => verdict === "slower beyond noise")

export function describeComparison(comparison: Comparison, names: Names): string {
  const { disturbed, failures, figures, runs } = comparison
  const number = (value: number) => value.toFixed(value < 10 ? 3 : 1)
  const rows = figures.map(
    ({ figure, high, low, max, min, ratio, scenario, verdict }) =>
      `| ${scenario} | ${figure} | ${number(ratio)} | ${number(low)} to ${number(high)} | ${number(min)} to ${number(max)} | ${verdict} |`,
  )
  const slower = figures.filter(({ verdict }) => verdict === "slower beyond noise")
  const summary =
    slower.length === 0 ? "Nothing is slower beyond noise." : `Slower beyond noise: ${namesOf(slower)}.`
  const noisy = figures.filter(isTooNoisy)
  return [
    `${names.ours} against ${names.theirs}. A ratio is the first divided by the second.`,
    "",
    "| scenario | figure | ratio | 99.8 % interval | single pairs | verdict |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
    ...failures.map(({ text }) => `- ${text}`),
    ...(disturbed > 0
      ? [
          `- Other programs used the machine in ${disturbed} of ${runs} runs, which makes the intervals wider.`,
        ]
      : []),
    ...(noisy.length > 0
      ? [
          `- Too noisy to show a loss of 10 %: ${noisy.length > namedAtMost ? `${noisy.length} of ${figures.length} figures` : namesOf(noisy)}. Use more --pairs or a quieter machine.`,
        ]
      : []),
    summary,
  ].join("\n")
}
