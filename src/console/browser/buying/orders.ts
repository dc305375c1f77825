import type { View } from "../main.ts"
import { fill, h } from "../parts/dom.ts"
import { coalesced } from "../parts/signal.ts"
import { call } from "../platform/api.ts"
import { cart } from "../platform/store.ts"
import { orderView, paidView } from "./order.ts"
import { drawOrderHistory } from "./order-list.ts"
import { receiptView } from "./receipt.ts"

const pages = { "": orderView, paid: paidView, receipt: receiptView } as const

const isPage = (name: string): name is keyof typeof pages => Object.hasOwn(pages, name)

/** Shows the list of orders, or one order: its details, the success of its payment, or its receipt. */
export const draw: View["draw"] = async (root, lifetime, [id = "", page = ""]) => {
  if (id === "") {
    const list = h("div", {})
    root.append(h("h1", {}, "Orders"), list)
    await drawOrderHistory(list)
    return "Orders"
  }
  const read = () => call("GET /orders/{id}", { params: { id } })
  const view = pages[isPage(page) ? page : ""]
  let order = await read()
  fill(root, view(order))
  // The cart changes when the payment of the order arrives.
  const update = coalesced(async () => {
    const now = await read()
    if (now.updated_at === order.updated_at && now.status === order.status) return
    order = now
    fill(root, view(order))
  })
  lifetime.onEnd(cart.watch(() => void update().catch(() => {})))
  return page === "receipt" ? `Receipt ${order.order_number}` : `Order ${order.order_number}`
}
