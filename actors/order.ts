import { Context, type Effect, Layer } from "effect"
import { orderMachine } from "../machines/order.ts"
import { makeHost } from "./host.ts"

const make = makeHost({
  entity: "order",
  machine: orderMachine,
  columns: ({ context, value }) => ({
    status: value,
    owner_id: context.userId,
    peer_id: null,
    subject: null,
    due_at: null,
  }),
})

export class OrderActors extends Context.Service<OrderActors, Effect.Success<typeof make>>()(
  "directory/OrderActors",
) {
  static readonly layer = Layer.effect(OrderActors, make)
}
