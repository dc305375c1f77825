import { Context, type Effect, Layer } from "effect"
import type { SnapshotFrom } from "xstate"
import { begun } from "../machines/orders/changes.ts"
import { pendingDueAt } from "../machines/orders/deadlines.ts"
import { orderMachine } from "../machines/orders/order.ts"
import { isoTime } from "../schema/iso-time.ts"
import { OrderContext } from "../schema/orders/order-snapshot.ts"
import { allowedEvents, makeHost } from "./host.ts"

export type OrderSnapshot = SnapshotFrom<typeof orderMachine>

/** What an order of this status answers to, guards aside. */
export const allowedOrderEvents = (status: OrderSnapshot["value"]): ReadonlyArray<string> =>
  allowedEvents(
    orderMachine.resolveState({ value: status, context: begun({ id: "", userId: "", createdAt: "" }) }),
  )

/** A refund the provider has not answered, or a box not handed over: looked at again after this long. */
const retryMs = 15_000
/** What a provider has taken on it tells the end of; should that be lost, it is asked. */
const askAfterMs = 86_400_000

const dueAt = ({ context, value }: OrderSnapshot): number | undefined => {
  if (value === "PendingPayment") return pendingDueAt(context)
  const refunds = context.refunds
    .filter(({ status }) => status === "Pending")
    .map(({ at, takenOnAt }) =>
      takenOnAt === undefined ? Date.parse(at) + retryMs : Date.parse(takenOnAt) + askAfterMs,
    )
  const boxes = context.undelivered.map(() => Date.parse(context.paidAt ?? context.updatedAt))
  const times = [...refunds, ...boxes]
  return times.length === 0 ? undefined : Math.min(...times)
}

const make = makeHost({
  entity: "order",
  machine: orderMachine,
  format: { version: 1, context: OrderContext },
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

/** One actor per order. What its deadlines need from outside is done by those who watch them. */
export class OrderActors extends Context.Service<OrderActors, Effect.Success<typeof make>>()(
  "directory/OrderActors",
) {
  static readonly layer = Layer.effect(OrderActors, make)
}
