import type { DisplayOrder } from "../../../client/api-types.ts"
import { actionButton } from "../parts/actions.ts"
import { byId } from "../parts/dom.ts"
import { call } from "../platform/api.ts"
import { account } from "../platform/session.ts"
import { type CartItem, loadCart, showCart } from "../platform/store.ts"

export type Method = "CardCheckout" | "CryptoCommerce"

const methods = ["CardCheckout", "CryptoCommerce"] as const satisfies ReadonlyArray<Method>

export const methodNames: Readonly<Record<Method, string>> = {
  CardCheckout: "Card",
  CryptoCommerce: "Cryptocurrency",
}
/** For texts such as `Pay $4.00 by card`. */
export const methodWords: Readonly<Record<Method, string>> = {
  CardCheckout: "by card",
  CryptoCommerce: "with crypto",
}

/** The payment methods that are configured. The service writes them into the page. */
export const offeredMethods = (): ReadonlyArray<Method> => {
  const configured = (byId("view").dataset["paymentMethods"] ?? "").split(" ")
  return methods.filter((method) => configured.includes(method))
}

/** The page of an order that shows the success of its payment. */
export const successHash = (orderId: string): string => `#/orders/${orderId}/paid`

/**
 * Checks out the cart, which holds its ids. A pending order gets a new payment if the method is another one. After a
 * failure the current cart is read again.
 */
export const checkOut = async (orderId: string, method: Method): Promise<DisplayOrder> => {
  const page = `${location.origin}/`
  const urls = { success_url: `${page}${successHash(orderId)}`, cancel_url: `${page}#/cart` }
  try {
    return await call("POST /cart/checkout", { body: { method, ...urls } })
  } catch (error) {
    await loadCart()
    throw error
  }
}

/** Opens the payment page in this tab. It leads back to the page of the order. */
export const goToPayment = ({ payment_method_data: payment }: DisplayOrder): void => {
  if (payment?.checkout_url !== undefined) location.assign(payment.checkout_url)
}

/** Completes an order that costs nothing, or that the free ids of the user cover. Then shows the page of the order. */
export const checkOutFree = async (): Promise<void> => {
  try {
    const order = await call("POST /cart/checkout", { body: { method: "Free" } })
    showCart(order)
    location.hash = successHash(order.id)
  } finally {
    await loadCart()
  }
}

/**
 * Returns the number of free ids that the user has left, if they cover every item that still has a price after
 * discounts. Otherwise returns 0. Lootboxes are never free.
 */
const freeFor = ({ order_items: items }: DisplayOrder): number => {
  const free = account.value?.user.remaining_free_emoji ?? 0
  const left = ({ id, unit_price_in_cents: price }: CartItem) =>
    items.reduce((sum, item) => (item.parent_id === id ? sum + item.unit_price_in_cents : sum), price)
  const costly = items.filter((item) => item.item_type !== "Discount" && left(item) > 0)
  return costly.every(({ item_type }) => item_type === "EmojiId") && costly.length <= free ? free : 0
}

/** The button that uses free ids. Returns false if they do not cover the order, or if nothing is due. */
export const freeButton = (order: DisplayOrder, kind = "plain") => {
  const free = freeFor(order)
  return (
    free > 0 &&
    order.remaining_due_in_cents > 0 &&
    actionButton(`Get for free (uses free ids: you have ${free})`, checkOutFree, { class: kind })
  )
}
