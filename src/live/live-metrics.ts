import type { Registry } from "../telemetry/registry.ts"
import type { Hub } from "./hub.ts"

export interface LiveCounts extends Pick<Hub["Service"], "counts"> {
  sockets(): {
    readonly open: number
    /** How many were opened, and how many were disconnected as slow readers, since the start of the process. */
    readonly opened: number
    readonly slow: number
  }
}

/** Registers the metrics of live sockets and channels. */
export const registerLiveMetrics = (metrics: Registry, { counts, sockets }: LiveCounts): void => {
  metrics.gauge("live_sockets", "Open live sockets", () => sockets().open)
  metrics.gauge("live_subscriptions", "Subscriptions of live sockets", () => counts().subscriptions)
  metrics.gauge("live_channels", "Channels with subscribers, counted in each worker", () => counts().channels)
  metrics.counted("live_sockets_opened_total", "Live sockets opened", () => sockets().opened)
  metrics.counted(
    "live_slow_sockets_cut_total",
    "Live sockets disconnected as slow readers",
    () => sockets().slow,
  )
  metrics.counted("live_events_published_total", "Events read and encoded", () => counts().published)
  metrics.counted("live_events_delivered_total", "Event frames sent to sockets", () => counts().delivered)
  const resumes = (outcome: string, read: () => number) =>
    metrics.counted(
      "live_resumes_total",
      "Resumed subscriptions. recovered: they got every missed event. state: they got the state instead",
      read,
      { labels: { outcome } },
    )
  resumes("recovered", () => counts().recovered)
  resumes("state", () => counts().unrecovered)
  metrics.counted(
    "live_wakeups_repaired_total",
    "Lost wake-ups found by the position check",
    () => counts().repaired,
  )
}
