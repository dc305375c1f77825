import { setTimeout as sleep } from "node:timers/promises"
import { perform, startGenerator } from "../generator.ts"
import { urlOfTarget } from "../load/request.ts"
import type { Child } from "../process/child.ts"
import type { RunningServer } from "../side.ts"
import { canonicalAt } from "../stored/ids.ts"
import { service } from "../subject.ts"
import { type Probed, percentile, startProbe } from "./probe.ts"
import { overloadLookups, overloadWrites } from "./scenarios.ts"

const factors = [1, 3, 10]
const capacityConnections = 256
const warmupSeconds = 6
const loadSeconds = 10
/** How long the service is observed after the load. */
const afterSeconds = 12
const lookupsPerSecond = 200
const timeoutSeconds = 15
/** The connections of the load. With fewer, the generator would wait for responses and could not hold the rate. */
const connectionsAt = (rate: number): number => Math.min(4_000, Math.max(512, 2 * rate))
/**
 * A request counts as served normally if its response takes at most this long, or four times as long as usual without
 * load.
 */
const normalMs = 250
const beforeSeconds = 3

/** The time from the end of the load until all later probes are served normally. */
const recoveredAfterMs = (probed: readonly Probed[], beginMs: number, endMs: number): number => {
  const before = probed.filter(({ sentAtMs }) => sentAtMs < beginMs)
  const normal = Math.max(normalMs, 4 * percentile(before, 0.5))
  const bad = probed.filter(
    ({ ms, sentAtMs, status }) => sentAtMs + ms > endMs && (status !== 200 || ms > normal),
  )
  return Math.max(0, ...bad.map(({ ms, sentAtMs }) => sentAtMs + ms - endMs))
}

const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
const percent = (part: number, whole: number): string => `${Math.round((100 * part) / Math.max(1, whole))} %`

const measure = async (
  server: RunningServer,
  generators: readonly [Child, Child],
  rate: number,
  token: string,
) => {
  const [writes, lookups] = generators
  const url = (path: string) => urlOfTarget(server.target, path)
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const path = `/emoji_id/${encodeURIComponent(canonicalAt(0))}`
  const health = startProbe(url("/health"))
  const ready = startProbe(url("/ready"))
  const edits = startProbe(url(path), () => ({
    method: "PATCH",
    headers,
    body: JSON.stringify({ insert: [{ tag: "0x0002", data: `Probe ${performance.now()}` }] }),
  }))
  await sleep(beforeSeconds * 1000)
  const beginMs = performance.now()
  const common = { dropsLate: true, warmupSeconds: 1, durationSeconds: loadSeconds, timeoutSeconds }
  const endMs = beginMs + (common.warmupSeconds + loadSeconds) * 1000
  const [wrote, looked] = await Promise.all([
    perform(writes, { ...common, connections: connectionsAt(rate), ratePerSecond: rate }),
    perform(lookups, { ...common, connections: 64, ratePerSecond: lookupsPerSecond }),
  ])
  await sleep(Math.max(0, endMs + afterSeconds * 1000 - performance.now()))
  await Promise.all([health.stop(), ready.stop(), edits.stop()])
  const during = (probed: readonly Probed[]) =>
    probed.filter(({ sentAtMs }) => sentAtMs > beginMs && sentAtMs < endMs)
  const { "status 503": refused = 0, dropped = 0, ...others } = wrote.errors
  const sent = wrote.completed + Object.values(wrote.errors).reduce((sum, n) => sum + n, 0) - dropped
  return [
    `${Math.round(sent / loadSeconds)}/s`,
    `${Math.round(wrote.completed / loadSeconds)}/s`,
    ms(wrote.latency.p50Ms),
    ms(wrote.latency.p99Ms),
    percent(refused, sent),
    Object.entries(others)
      .map(([kind, n]) => `${percent(n, sent)} ${kind}`)
      .join(", ") || "none",
    ms(looked.latency.p99Ms),
    ms(percentile(during(health.probed), 0.99)),
    ms(percentile(during(ready.probed), 0.99)),
    ms(recoveredAfterMs(edits.probed, beginMs, endMs)),
  ]
}

const columns = [
  "load",
  "sent",
  "accepted",
  "p50",
  "p99",
  "refused (503)",
  "other errors",
  "lookup p99",
  "/health p99",
  "/ready p99",
  "recovered after",
]

/** Measures the capacity for writes, then offers multiples of it. Returns a Markdown table. */
export async function runOverload(onStep: (step: string) => void): Promise<string> {
  onStep("overload: starting the service")
  const server = await service().start()
  const generators: Child[] = []
  try {
    const tokens = (await overloadWrites.prepare?.(server)) ?? []
    const writes = startGenerator(server, overloadWrites.name, tokens)
    const lookups = startGenerator(server, overloadLookups.name, undefined)
    generators.push(writes, lookups)
    onStep("overload: capacity")
    const capacity = await perform(writes, {
      connections: capacityConnections,
      warmupSeconds,
      durationSeconds: loadSeconds,
      timeoutSeconds,
    })
    const base = Math.round(capacity.ratePerSecond)
    const rows = [
      `Capacity: ${base} writes per second with ${capacityConnections} connections (p50 ${ms(capacity.latency.p50Ms)}, ` +
        `p99 ${ms(capacity.latency.p99Ms)}, errors ${JSON.stringify(capacity.errors)}).`,
      "",
      `| ${columns.join(" | ")} |`,
      `|${columns.map(() => " --- ").join("|")}|`,
    ]
    for (const factor of factors) {
      onStep(`overload: ${factor} times the capacity`)
      const cells = await measure(server, [writes, lookups], factor * base, tokens[0] ?? "")
      rows.push(`| ${factor}× (${factor * base}/s) | ${cells.join(" | ")} |`)
    }
    return rows.join("\n")
  } finally {
    for (const child of generators) await child.stop()
    await server.stop()
  }
}
