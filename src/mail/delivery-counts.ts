import type { Registry } from "../telemetry/registry.ts"

const outcomes = ["delivered", "retried", "abandoned"] as const

/**
 * Counts attempts to send a message, by outcome. A provider accepted a `delivered` message; a `retried` one failed and is
 * tried again; an `abandoned` one is not tried again.
 */
export const makeDeliveryCounts = (metrics: Registry) => {
  // A counter that is missing until its first count would hide that count from a rate.
  const counters = new Map(
    outcomes.map((outcome) => [
      outcome,
      metrics.counter("outbox_deliveries_total", "Attempts to send mail and SMS", { labels: { outcome } }),
    ]),
  )
  return (outcome: (typeof outcomes)[number]): void => counters.get(outcome)?.add()
}

/** How old messages are when their provider accepts them. */
export const deliveryAges = (metrics: Registry) =>
  metrics.histogram(
    "outbox_delivery_age_seconds",
    "Age of mail and SMS when their provider accepted them",
    [0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 86_400],
  )
