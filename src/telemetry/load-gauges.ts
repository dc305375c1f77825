import { monitorEventLoopDelay } from "node:perf_hooks"
import type { Admission } from "../http/limits/admission.ts"
import { workKinds } from "../http/route.ts"
import type { Metrics } from "./metrics.ts"

/** The delay is sampled by a timer of this period, so it cannot be measured more exactly. */
const sampleMs = 20

/** Registers the gauges of the queues of requests, and of the event loop's delay since the last scrape. */
export const registerLoadGauges = (metrics: Metrics["Service"], { stats }: Admission): void => {
  for (const kind of workKinds) {
    const gauge = (name: string, description: string, read: () => number) =>
      metrics.gauge(name, description, read, { kind })
    gauge("http_requests_running", "Requests that were begun and not completed", () => stats(kind).running)
    gauge("http_requests_waiting", "Requests that were not begun yet", () => stats(kind).waiting)
    gauge("http_expected_wait_ms", "Expected wait of a new request", () => stats(kind).expectedWaitMs)
    gauge("http_requests_refused_total", "Requests refused because of overload", () => stats(kind).refused)
    gauge(
      "http_requests_discarded_total",
      "Requests discarded because they waited too long",
      () => stats(kind).discarded,
    )
  }
  const delay = monitorEventLoopDelay({ resolution: sampleMs })
  delay.enable()
  const delayMs = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - sampleMs)
  metrics.gauge("event_loop_delay_p99_ms", "99th percentile of the delay since the last scrape", () =>
    delayMs(delay.percentile(99)),
  )
  metrics.gauge("event_loop_delay_max_ms", "Maximum of the delay since the last scrape", () => {
    const max = delayMs(delay.max)
    delay.reset()
    return max
  })
}
