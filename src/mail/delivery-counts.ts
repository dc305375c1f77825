import { Context, Metric } from "effect"

const outcomes = ["delivered", "retried", "abandoned"] as const

/**
 * Counts attempts to send a message, by outcome. A provider accepted a `delivered` message; a `retried` one failed and is
 * tried again; an `abandoned` one is not tried again.
 */
export const makeDeliveryCounts = () => {
  const counters = new Map(
    outcomes.map((outcome) => {
      const counter = Metric.counter("outbox_deliveries_total", {
        description: "Attempts to send mail and SMS",
        incremental: true,
        attributes: { outcome },
      })
      // A counter that was never updated is missing in the metrics, and a rate over it would miss its first count.
      counter.updateUnsafe(0, Context.empty())
      return [outcome, counter]
    }),
  )
  return (outcome: (typeof outcomes)[number]): void => counters.get(outcome)?.updateUnsafe(1, Context.empty())
}
