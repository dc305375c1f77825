import type { Run } from "../load/run.ts"
import { disturbanceOf, isDisturbed } from "./disturbance.ts"
import { failedShareOf, isFailing } from "./failing.ts"
import { isGeneratorLimited } from "./generator-limit.ts"
import type { Ratio, Results, ScenarioResult, SideResult } from "./results.ts"
import { type Spread, spreadOf } from "./spread.ts"

/** Returns the report in Markdown: an introduction, the headline table, all figures, and warnings. */
export const markdownOf = (results: Results): string =>
  [...introduction(results), ...headlines(results), "", ...figures(results), ...notes(results), ""].join("\n")

/** Returns the part of the report that the README contains: the introduction, the headline table and the warnings. */
export const headlineTable = (results: Results): string =>
  [...introduction(results), ...headlines(results), ...notes(results)].join("\n")

function introduction({ at, commit, machine, node }: Results): string[] {
  const where = `${machine.cores} cores (${machine.cpu}), ${machine.platform}, Node ${node}, commit ${commit}`
  return [
    `Measured ${at} on ${where}. Subject and baseline took turns in one run; ± is half the range over the runs.`,
    "",
  ]
}

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
  return tableOf([...header, "CPU µs/op", "RSS MB", "cores used by other programs", "errors"], rows)
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
    offered === undefined ? `peak, ${scenario.connections} connections` : `${whole(offered)}/s`,
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
    hasServer ? whole(over((run) => run.server?.rssMb).max) : "",
    fixed(disturbanceOf(runs), 1),
    errorsOf(runs),
  ]
}

function errorsOf(runs: readonly Run[]): string {
  const sums: Record<string, number> = {}
  for (const run of runs)
    for (const [kind, count] of Object.entries(run.errors)) sums[kind] = (sums[kind] ?? 0) + count
  const kinds = Object.entries(sums)
  return kinds.length === 0 ? "0" : kinds.map(([kind, count]) => `${whole(count)} ${kind}`).join(", ")
}

/** Returns warnings about figures that are not valid or exceed a limit. */
function notes(results: Results): string[] {
  const found = new Set<string>()
  for (const { name, sides, rssLimitMb } of results.scenarios) {
    const rss = spreadOf(sides[0]?.peak.flatMap((run) => run.server?.rssMb ?? []) ?? []).max
    if (rssLimitMb !== undefined && rss > rssLimitMb)
      found.add(`${name}: RSS ${whole(rss)} MB is above ${rssLimitMb} MB ✗`)
    for (const side of sides) {
      const runs = side.peak.length > 0 ? side.peak : side.atRate
      if (isFailing(runs)) {
        const percent = fixed(failedShareOf(runs) * 100, 0)
        found.add(
          `${name}, ${side.name}: ${percent} % of the operations failed, so its figures are not valid ✗`,
        )
      }
      if (isDisturbed(runs)) {
        const cores = fixed(disturbanceOf(runs), 1)
        found.add(
          `${name}, ${side.name}: other programs used up to ${cores} cores, so rates are too low and only CPU ratios are valid`,
        )
      }
      if (isGeneratorLimited(side.peak)) {
        found.add(
          `${name}, ${side.name}: the generator was the limit, not the server; only the ratio of CPU time is valid`,
        )
      }
    }
  }
  return found.size === 0 ? [] : ["", ...[...found].map((note) => `- ${note}`)]
}

function tableOf(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
  return [line(header), line(header.map(() => "---")), ...rows.map(line)]
}

const withSpread = (spread: Spread, digits: number): string => {
  const half = (spread.max - spread.min) / 2
  return half === 0
    ? fixed(spread.median, digits)
    : `${fixed(spread.median, digits)} ± ${fixed(half, digits)}`
}

const whole = (value: number): string => fixed(value, 0)
const fixed = (value: number, digits: number): string =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })
