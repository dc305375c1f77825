import type { Run } from "../load/run.ts"
import type { Results } from "./results.ts"
import { loadsOf } from "./table.ts"

type Cell = string | number | undefined

const columns: readonly (readonly [string, (run: Run) => Cell])[] = [
  ["offered_per_second", (run) => run.offeredPerSecond],
  ["seconds", (run) => run.seconds],
  ["completed", (run) => run.completed],
  ["per_second", (run) => run.ratePerSecond],
  ["mean_ms", ({ latency }) => latency.meanMs],
  ["p50_ms", ({ latency }) => latency.p50Ms],
  ["p90_ms", ({ latency }) => latency.p90Ms],
  ["p99_ms", ({ latency }) => latency.p99Ms],
  ["p99_9_ms", ({ latency }) => latency.p999Ms],
  ["p99_99_ms", ({ latency }) => latency.p9999Ms],
  ["max_ms", ({ latency }) => latency.maxMs],
  ["server_cpu_micros_per_operation", ({ server }) => server?.cpuMicrosPerOperation],
  ["database_cpu_micros_per_operation", ({ server }) => server?.databaseCpuMicrosPerOperation],
  ["rss_mb", ({ server }) => server?.rssMb],
  ["socket_kb", ({ server }) => server?.socketKb],
  ["generator_cpu_share", ({ generator }) => generator.cpuShare],
  ["generator_lateness_p99_ms", ({ generator }) => generator.latenessP99Ms],
  ["cores_used_by_others", (run) => run.othersCpuShare],
  ["errors", ({ errors }) => Object.values(errors).reduce((sum, count) => sum + count, 0)],
]

/** Returns all measured runs as comma-separated values, with one line for each run. */
export function csvOf(results: Results): string {
  const rows = results.scenarios.flatMap(({ connections, name, sides }) =>
    sides.flatMap((side) =>
      loadsOf(side).flatMap((runs) =>
        runs.map((run, n) => [name, side.name, connections, n + 1, ...columns.map(([, pick]) => pick(run))]),
      ),
    ),
  )
  const header = ["scenario", "side", "connections", "run", ...columns.map(([column]) => column)]
  return [header, ...rows].map((cells) => `${cells.map(quoted).join(",")}\n`).join("")
}

function quoted(cell: Cell): string {
  const text = String(cell ?? "")
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
