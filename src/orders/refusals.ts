import { allowedOrderEvents } from "../../actors/order.ts"
import type { OrderEvent } from "../../machines/orders/context.ts"
import { refusalOf } from "../../machines/orders/guards.ts"
import { EventRefused, fieldFault, NotFound, Unprocessable } from "../../schema/errors.ts"
import type { StoredOrder } from "./order-store.ts"
import { allowedActions } from "./order-view.ts"

/** Creates a 409 error that contains the state of the order and the actions it allows. */
export const refusedByState = (
  order: StoredOrder,
  error = `The order is ${order.status} and does not allow this action.`,
): EventRefused =>
  new EventRefused({ error, details: { state: order.status, allowed: allowedActions(order) } })

export const notFree = (remaining: number): Unprocessable =>
  new Unprocessable({
    error: `This order is not free. You have ${remaining} free ids left. Choose another payment method.`,
    fields: {
      method: [
        {
          code: "free_limit",
          message: "The cart contains more ids than you have free ids, or items that cannot be free.",
        },
      ],
    },
  })

/**
 * Creates the error for an event that the machine refused. It names the reason if the event itself is not valid.
 * Otherwise it names the state of the order.
 */
export const refusalError = (
  order: StoredOrder,
  event: OrderEvent,
  { remaining_free_emoji }: { readonly remaining_free_emoji: number },
): EventRefused | NotFound | Unprocessable => {
  const isAllowed = allowedOrderEvents(order.status).includes(event.type)
  switch (isAllowed ? refusalOf(order.context, event) : undefined) {
    case "no_items":
      return new Unprocessable({
        error: "The cart is empty. Add an item before the checkout.",
        fields: { items: [{ code: "empty", message: "The cart contains no items." }] },
      })
    case "unknown_item":
      return new NotFound({ error: "The cart contains no item with this cart_item_id." })
    case "not_free":
      return notFree(remaining_free_emoji)
    case "cart_not_empty":
      return fieldFault("cart", "conflict", "Your cart is not empty. Empty it or check it out first.")
    default:
      return refusedByState(order)
  }
}
