import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { perform, startGenerator } from "../generator.ts"
import { overloadLookups } from "../overload/scenarios.ts"
import { recordEdit } from "../scenarios/accounts.ts"
import type { RunningServer } from "../side.ts"
import { service } from "../subject.ts"

const counts = [1, 2, 4, 8]
const editors = 8
const readers = 32
const lookupsPerSecond = 2_000
const durationSeconds = 8
const timeoutSeconds = 10
/** After a start, a process joins the others and then uses its caches. */
const joinSeconds = 4
/** The time for one process to leave, and for another one to start in its place. */
const replaceSeconds = 4

/** The workers of the service, which are its child processes that run the same program. */
const workersOf = (pid: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .trim()
    .split(" ")
    .filter((child) => child !== "" && readFileSync(`/proc/${child}/cmdline`, "utf8").includes("main.js"))
    .map(Number)

const replaceAll = async ({ pid = 0 }: RunningServer) => {
  for (const worker of workersOf(pid)) {
    process.kill(worker, "SIGTERM")
    await sleep(replaceSeconds * 1000)
  }
}

const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`

const measure = async (count: number): Promise<ReadonlyArray<string>> => {
  const server = await service(`${count} processes`, { WORKERS: String(count) }).start()
  const stops: Array<() => Promise<void>> = [server.stop]
  try {
    const tokens = await recordEdit.prepare!(server)
    const edits = startGenerator(server, recordEdit.name, tokens)
    const lookups = startGenerator(server, overloadLookups.name)
    stops.unshift(edits.stop, lookups.stop)
    await sleep(joinSeconds * 1000)
    const reading = { connections: readers, ratePerSecond: lookupsPerSecond, dropsLate: true, timeoutSeconds }
    const edited = await perform(edits, {
      connections: editors,
      warmupSeconds: 3,
      durationSeconds,
      timeoutSeconds,
    })
    const steady = await perform(lookups, { ...reading, warmupSeconds: 2, durationSeconds })
    const row = [
      `${Math.round(edited.ratePerSecond)}`,
      ms(edited.latency.p50Ms),
      ms(edited.latency.p99Ms),
      ms(steady.latency.p50Ms),
      ms(steady.latency.p99Ms),
    ]
    if (count === 1) return [...row, "-", "-", "-"]
    const [rolled] = await Promise.all([
      perform(lookups, { ...reading, warmupSeconds: 0, durationSeconds: count * replaceSeconds }),
      replaceAll(server),
    ])
    const failed = Object.entries(rolled.errors).map(([kind, n]) => `${n} ${kind}`)
    return [
      ...row,
      ms(rolled.latency.p50Ms),
      ms(rolled.latency.p99Ms),
      `${failed.join(", ") || "0"} of ${Math.round(rolled.completed)}`,
    ]
  } finally {
    for (const stop of stops) await stop()
  }
}

const columns = [
  "processes",
  "edits/s",
  "edit p50",
  "edit p99",
  "lookup p50",
  "lookup p99",
  "lookup p50, rolling restart",
  "lookup p99, rolling restart",
  "failed lookups",
]

/** Measures edits by eight clients, and lookups without and with a rolling restart. Returns a Markdown table. */
export async function runProcesses(onStep: (step: string) => void): Promise<string> {
  const rows: string[] = []
  for (const count of counts) {
    onStep(`processes: ${count}`)
    rows.push(`| ${[count, ...(await measure(count))].join(" | ")} |`)
  }
  return [`| ${columns.join(" | ")} |`, `|${columns.map(() => " --- ").join("|")}|`, ...rows].join("\n")
}
