import { Context, type Effect, Layer } from "effect"
import type { SnapshotFrom } from "xstate"
import { begun } from "../machines/orders/changes.ts"
import { pendingDueAt } from "../machines/orders/deadlines.ts"
import { orderMachine } from "../machines/orders/order.ts"
import { isoTime } from "../schema/iso-time.ts"
import { OrderContext } from "../schema/orders/order-snapshot.ts"
import { allowedEvents, makeHost } from "./host.ts"

export type OrderSnapshot = SnapshotFrom<typeof orderMachine>

/** The events for which an order in this status has a transition. Guards are not evaluated. */
export const allowedOrderEvents = (status: OrderSnapshot["value"]): ReadonlyArray<string> =>
  allowedEvents(
    orderMachine.resolveState({ value: status, context: begun({ id: "", userId: "", createdAt: "" }) }),
  )

/** A replaced intent that is not cancelled after this time is cancelled by the sweep. */
const cancelMs = 15_000
/** A refund whose request got no answer from the provider is requested again after this time. */
const retryMs = 15_000
/** A refund that the provider reported as pending is requested again if no other report arrives within this time. */
const unreportedMs = 86_400_000

const dueAt = ({ context, value }: OrderSnapshot): number | undefined => {
  const cancels = (context.replaced ?? []).map(({ replacedAt }) => Date.parse(replacedAt) + cancelMs)
  if (value === "PendingPayment") return Math.min(pendingDueAt(context), ...cancels)
  const refunds = context.refunds
    .filter(({ status }) => status === "Pending")
    .map(({ at, takenOnAt }) =>
      takenOnAt === undefined ? Date.parse(at) + retryMs : Date.parse(takenOnAt) + unreportedMs,
    )
  const boxes = context.undelivered.map(() => Date.parse(context.paidAt ?? context.updatedAt))
  const times = [...cancels, ...refunds, ...boxes]
  return times.length === 0 ? undefined : Math.min(...times)
}

/** The version of the format in which snapshots of orders are stored. */
export const orderFormat = 1

const make = makeHost({
  entity: "order",
  machine: orderMachine,
  format: { version: orderFormat, context: OrderContext },
  columns: (snapshot) => {
    const due = dueAt(snapshot)
    return {
      status: snapshot.value,
      owner_id: snapshot.context.userId,
      peer_id: null,
      subject: null,
      due_at: due === undefined ? null : isoTime(due),
    }
  },
})

/** One actor per order. `src/orders/deadlines.ts` handles deadlines of orders, because that needs other services. */
export class OrderActors extends Context.Service<OrderActors, Effect.Success<typeof make>>()(
  "directory/OrderActors",
) {
  static readonly layer = Layer.effect(OrderActors, make)
}
