import { performance } from "node:perf_hooks"
import type { Registry } from "./registry.ts"

/** The delay of the event loop is sampled with a timer of this period. */
const sampleMs = 50
const lagBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const across = { across: "each" } as const

/** Registers the metrics of this process. Returns a function that stops their measurement. */
export const registerProcessMetrics = (metrics: Registry): (() => void) => {
  const startedAt = Date.now() / 1000 - process.uptime()
  metrics.gauge(
    "process_start_time_seconds",
    "When the process started, as a Unix time",
    () => startedAt,
    across,
  )
  metrics.counted(
    "process_cpu_seconds_total",
    "CPU time of the process",
    () => {
      const { system, user } = process.cpuUsage()
      return (system + user) / 1e6
    },
    across,
  )
  metrics.gauge(
    "process_resident_memory_bytes",
    "Memory of the process",
    () => process.memoryUsage.rss(),
    across,
  )
  metrics.gauge(
    "process_heap_bytes",
    "Memory of JavaScript objects that are in use or not yet collected",
    () => process.memoryUsage().heapUsed,
    across,
  )
  metrics.counted(
    "event_loop_active_seconds_total",
    "Time in which the event loop was busy. Its rate is the used share of one core",
    () => performance.eventLoopUtilization().active / 1000,
    across,
  )
  const lag = metrics.histogram(
    "event_loop_lag_seconds",
    `How much too late a timer of ${sampleMs} ms ran, because the event loop was busy`,
    lagBounds,
    across,
  )
  let due = performance.now() + sampleMs
  const timer = setInterval(() => {
    const now = performance.now()
    lag.observe(Math.max(0, now - due) / 1000)
    due = now + sampleMs
  }, sampleMs).unref()
  return () => clearInterval(timer)
}
