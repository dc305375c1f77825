import type { Run } from "../load/run.ts"
import { disturbanceOf } from "./disturbance.ts"
import { fixed, tableOf, whole, withSpread } from "./format.ts"
import { guaranteesOf } from "./guarantees.ts"
import { introductionOf } from "./introduction.ts"
import { notesOf } from "./notes.ts"
import type { Ratio, Results, ScenarioResult, SideResult } from "./results.ts"
import { median, spreadOf } from "./spread.ts"

/** Returns the report in Markdown: an introduction, the headline table, all figures, and warnings. */
export const markdownOf = (results: Results): string =>
  [
    ...introductionOf(results),
    ...headlines(results),
    ...guaranteesOf(results),
    "",
    ...figures(results),
    ...notesOf(results),
    "",
  ].join("\n")

/** Returns the part of the report that the README contains: the introduction, the headline table and the warnings. */
export const headlineTable = (results: Results): string =>
  [...introductionOf(results), ...headlines(results), ...guaranteesOf(results), ...notesOf(results)].join(
    "\n",
  )

function headlines(results: Results): string[] {
  const rows = results.scenarios.flatMap((scenario) =>
    scenario.ratios.map((ratio) => [
      scenario.name,
      opponentOf(ratio),
      ratio.isDifference ? `${metricNames[ratio.metric]}, difference` : metricNames[ratio.metric],
      withSpread(ratio.value, 2),
      ratio.aim === undefined ? "" : `${ratio.aim} ${verdictOf(ratio)}`,
    ]),
  )
  return tableOf(["scenario", "against", "ratio of", "ratio", "aim"], rows)
}

export const opponentOf = ({ of, against, beyond }: Ratio): string =>
  `${of === undefined ? "" : `${of} against `}${against}${beyond === undefined ? "" : `, beyond ${beyond}`}`

const verdictOf = ({ byCpuTime, met }: Ratio): string => {
  if (met === undefined) return "(not judged, see below)"
  return `${met ? "✓" : "✗"}${byCpuTime ? " (by CPU time, see below)" : ""}`
}

const metricNames: Record<Ratio["metric"], string> = {
  rate: "operations per second",
  cpu: "server CPU per operation",
  p50: "p50 latency",
  p99: "p99 latency",
  memory: "KB per socket",
}

function figures(results: Results): string[] {
  const rows = results.scenarios.flatMap((scenario) =>
    scenario.sides.flatMap((side) => loadsOf(side).map((runs) => figureRow(scenario, side, runs))),
  )
  const header = [
    "scenario",
    "side",
    "load",
    "per second",
    "p50 ms",
    "p99 ms",
    "p99.9 ms",
    "p99.99 ms",
    "max ms",
  ]
  const costs = ["CPU µs/op", "Postgres CPU µs/op", "RSS MB", "cores used by other programs"]
  return tableOf([...header, ...costs, "answers checked", "errors"], rows)
}

/**
 * Groups the runs of a side by load: first the peak runs, then the runs of each constant rate. Empty groups are
 * omitted.
 */
export function loadsOf(side: SideResult): (readonly Run[])[] {
  const byRate = new Map<number, Run[]>()
  for (const run of side.atRate) {
    const rate = run.offeredPerSecond ?? 0
    byRate.set(rate, [...(byRate.get(rate) ?? []), run])
  }
  return [side.peak, ...byRate.values()].filter((runs) => runs.length > 0)
}

function figureRow(scenario: ScenarioResult, side: SideResult, runs: readonly Run[]): string[] {
  const over = (pick: (run: Run) => number | undefined) => spreadOf(runs.flatMap((run) => pick(run) ?? []))
  const offered = runs[0]?.offeredPerSecond
  const hasServer = runs.some((run) => run.server !== undefined)
  return [
    scenario.name,
    side.name,
    offered === undefined ? `peak, ${scenario.connections} connections` : rateOf(scenario, offered),
    withSpread(
      over((run) => run.ratePerSecond),
      0,
    ),
    withSpread(
      over((run) => run.latency.p50Ms),
      2,
    ),
    withSpread(
      over((run) => run.latency.p99Ms),
      2,
    ),
    fixed(over((run) => run.latency.p999Ms).median, 2),
    fixed(over((run) => run.latency.p9999Ms).median, 2),
    fixed(over((run) => run.latency.maxMs).max, 2),
    hasServer
      ? withSpread(
          over((run) => run.server?.cpuMicrosPerOperation),
          1,
        )
      : "",
    hasServer
      ? withSpread(
          over((run) => run.server?.databaseCpuMicrosPerOperation),
          1,
        )
      : "",
    hasServer ? whole(over((run) => run.server?.rssMb).max) : "",
    fixed(disturbanceOf(runs), 1),
    whole(runs.reduce((sum, run) => sum + (run.audit?.checked ?? 0), 0)),
    errorsOf(runs),
  ]
}

/** Returns the constant rate, and its share of the subject's peak rate if that was measured. */
function rateOf({ sides }: ScenarioResult, offered: number): string {
  const peak = median(sides[0]?.peak.map((run) => run.ratePerSecond) ?? [])
  return peak === 0
    ? `${whole(offered)}/s`
    : `${whole(offered)}/s, ${whole((offered / peak) * 100)} % of the peak`
}

function errorsOf(runs: readonly Run[]): string {
  const sums: Record<string, number> = {}
  for (const run of runs)
    for (const [kind, count] of Object.entries(run.errors)) sums[kind] = (sums[kind] ?? 0) + count
  const kinds = Object.entries(sums)
  return kinds.length === 0 ? "0" : kinds.map(([kind, count]) => `${whole(count)} ${kind}`).join(", ")
}
