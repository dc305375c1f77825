import { Effect } from "effect"
import { AppConfig } from "../config/read-config.ts"
import { makeCleanupStore, type OldOrder } from "./cleanup-store.ts"
import { Payments } from "./payments/payments.ts"

/** The number of orders that one statement looks at, so that it stays far below the time limit of a statement. */
const ordersPerPart = 500
/** The number of parts of one run. A million orders take about four hours. */
const partsPerRun = 40
const concurrency = 4

/**
 * Removes what is no longer needed of cancelled orders: first the tracking data, later the order if it never got a
 * payment. An order whose payment intent is not confirmed as cancelled stays, because
 * the buyer could still pay it. Several processes can run this at the same time: each continues where the last part
 * ended.
 */
export const cleanCancelledOrders = Effect.gen(function* () {
  const store = yield* makeCleanupStore
  const payments = yield* Payments
  const { cancelledOrderKeepDays, trackingKeepDays } = yield* AppConfig
  const limits = {
    maxOrders: ordersPerPart,
    keepTrackingDays: trackingKeepDays,
    keepOrderDays: cancelledOrderKeepDays,
  }
  /** The providers that did not answer in this run. Their orders are left for the next round. */
  const unreachable = new Set<string>()

  const isClosed = ({ intent }: OldOrder): Effect.Effect<boolean> => {
    if (intent === null) return Effect.succeed(true)
    if (unreachable.has(intent.provider)) return Effect.succeed(false)
    return payments.confirmCancelled(intent).pipe(
      Effect.catch(() => {
        unreachable.add(intent.provider)
        return Effect.succeed(false)
      }),
    )
  }

  for (let parts = 0; parts < partsPerRun; parts++) {
    const part = yield* store.nextPart(limits)
    if (part === undefined) return
    const closed = yield* Effect.filter(part.old, isClosed, { concurrency })
    if (closed.length > 0) yield* store.purge(closed)
    if (part.until === null) return
  }
})
