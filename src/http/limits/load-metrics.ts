import type { Registry } from "../../telemetry/registry.ts"
import { workKinds } from "../route.ts"
import type { Admission } from "./admission.ts"

/** Registers the metrics of the queues of requests. */
export const registerLoadMetrics = (metrics: Registry, { stats }: Admission): void => {
  for (const kind of workKinds) {
    const labels = { kind }
    metrics.gauge(
      "http_requests_running",
      "Requests that were begun and not completed",
      () => stats(kind).running,
      { labels },
    )
    metrics.gauge("http_requests_waiting", "Requests that were not begun yet", () => stats(kind).waiting, {
      labels,
    })
    metrics.gauge(
      "http_queue_age_seconds",
      "How long the oldest request that was not begun has waited",
      () => stats(kind).oldestMs / 1000,
      { labels, across: "max" },
    )
    metrics.gauge(
      "http_expected_wait_seconds",
      "Expected wait of a new request",
      () => stats(kind).expectedWaitMs / 1000,
      { labels, across: "max" },
    )
    metrics.counted(
      "http_requests_refused_total",
      "Requests refused because of overload",
      () => stats(kind).refused,
      { labels },
    )
    metrics.counted(
      "http_requests_discarded_total",
      "Requests discarded because they waited too long",
      () => stats(kind).discarded,
      { labels },
    )
  }
}
