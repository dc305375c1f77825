import { type Chart, chartSvg, type Series } from "./chart.ts"
import type { Results, ScenarioResult, SideResult } from "./results.ts"
import { median } from "./spread.ts"
import { loadsOf } from "./table.ts"

export interface Plot {
  /** The name of the file without directory, time and extension. */
  readonly name: string
  readonly svg: string
}

export function plotsOf(results: Results): Plot[] {
  const charts = [
    ...results.scenarios.flatMap((scenario): [string, Chart][] => [
      [`${scenario.name}.latency`, latencyOverRate(scenario)],
      [`${scenario.name}.percentiles`, percentileCurve(scenario)],
    ]),
    ["cost-over-stored-ids", costOverStoredIds(results)] satisfies [string, Chart],
  ]
  return charts
    .map(([name, chart]) => ({
      name,
      chart: { ...chart, series: chart.series.filter((one) => one.points.length > 0) },
    }))
    .filter(({ chart }) => chart.series.length > 0)
    .map(({ name, chart }) => ({ name, svg: chartSvg(chart) }))
}

function latencyOverRate(scenario: ScenarioResult): Chart {
  const atPercentile = (label: string, pick: "p50Ms" | "p99Ms"): Series[] =>
    scenario.sides.map((side) => ({
      name: `${side.name} ${label}`,
      group: side.name,
      dashed: pick === "p50Ms",
      points: loadsOf({ ...side, peak: [] })
        .map(
          (runs) => [runs[0]?.offeredPerSecond ?? 0, median(runs.map((run) => run.latency[pick]))] as const,
        )
        .sort(([a], [b]) => a - b),
    }))
  return {
    title: `${scenario.name}: latency at a constant rate`,
    x: { label: "requested operations per second", scale: "linear" },
    y: { label: "milliseconds from the intended send time", scale: "log" },
    series: [...atPercentile("p99", "p99Ms"), ...atPercentile("p50", "p50Ms")],
  }
}

/**
 * Plots latency by percentile, at the middle one of the constant rates that all sides reach. Without such a rate the
 * peak runs are used, although the latencies of a closed loop do not include the time in a queue.
 */
function percentileCurve(scenario: ScenarioResult): Chart {
  const ratesOf = (side: SideResult) => [...new Set(side.atRate.map((run) => run.offeredPerSecond ?? 0))]
  const [subject, ...others] = scenario.sides.map(ratesOf)
  const rates = (subject ?? [])
    .filter((rate) => others.every((side) => side.includes(rate)))
    .sort((a, b) => a - b)
  const rate = rates[(rates.length - 1) >> 1]
  return {
    title: `${scenario.name}: latency by percentile${rate === undefined ? " at peak" : ` at ${rate.toLocaleString("en-US")}/s`}`,
    x: { label: "percentile", scale: "nines" },
    y: { label: "milliseconds", scale: "log" },
    series: scenario.sides.map((side) => {
      const runs = rate === undefined ? side.peak : side.atRate.filter((run) => run.offeredPerSecond === rate)
      const curve = runs[0]?.latency.curve ?? []
      return {
        name: side.name,
        points: curve.map(([percentile], i) => [
          percentile,
          median(runs.map((run) => run.latency.curve[i]?.[1] ?? 0)),
        ]),
      }
    }),
  }
}

function costOverStoredIds(results: Results): Chart {
  const curves = new Map<string, [number, number][]>()
  for (const { stored, sides } of results.scenarios) {
    const costs = sides[0]?.peak.flatMap((run) => run.server?.cpuMicrosPerOperation ?? []) ?? []
    if (stored === undefined || costs.length === 0) continue
    curves.set(stored.curve, [...(curves.get(stored.curve) ?? []), [stored.ids, median(costs)]])
  }
  return {
    title: "Server CPU time per operation, by stored ids",
    x: { label: "stored ids", scale: "log" },
    y: { label: "microseconds", scale: "linear" },
    series: [...curves].map(([name, points]) => ({ name, points: points.sort(([a], [b]) => a - b) })),
  }
}
