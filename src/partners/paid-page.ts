import { Effect } from "effect"
import { Conflict, Forbidden, NotFound, Unprocessable, UnsupportedEmoji } from "../../schema/errors.ts"
import { isUuid, text } from "../../schema/wire-format.ts"
import type { BrowserSession } from "../accounts/sessions/browser-sessions.ts"
import { route } from "../http/route.ts"
import { Orders, type StoredOrder } from "../orders/order-store.ts"
import { pageRow } from "../web/page-route.ts"
import { boughtPage, notPaidPage, waitingPage } from "./cart-page.ts"
import type { Visitor } from "./page-shell.ts"
import { storePartnerIds } from "./partner-id-store.ts"
import { boughtIds, writeOrdered } from "./record-writes.ts"
import { goBack } from "./return.ts"
import { getActor, openFlow, sendEarlyReply } from "./visitor.ts"

export const params = { partner_path: text(64) }

export const finish = Effect.fnUntraced(function* (
  visitor: Visitor,
  actor: BrowserSession,
  order: StoredOrder,
) {
  yield* writeOrdered(actor.principal, order)
  yield* storePartnerIds(actor.account.id, visitor.visit)
  return goBack(visitor, { eids: boughtIds(order) })
})

export const paidPage = route({
  ...pageRow,
  id: "partnerPaid",
  group: "partner flows",
  summary:
    "Partner flow 1 (get an id): show the payment status, or return to the partner when the order is paid",
  method: "get",
  path: "/partner/:partner_path/paid",
  headers: [...pageRow.headers, "accept"],
  params,
  internal: true,
  redirects: [302, 303],
  errors: [Conflict, Forbidden, NotFound, Unprocessable, UnsupportedEmoji],
  handler: (request) =>
    Effect.gen(function* () {
      const { visitor, query } = yield* openFlow(request, "get")
      const actor = yield* getActor(visitor)
      const id = isUuid(query["order"] ?? "") ? query["order"] : undefined
      const order = id === undefined ? undefined : yield* Orders.use((orders) => orders.find(id))
      if (order === undefined || order.context.userId !== actor.account.id) {
        return yield* new NotFound({ error: "Order not found, or it belongs to another user." })
      }
      const path = `${visitor.home}/paid?order=${id}`
      if (order.status === "PendingPayment") return waitingPage(visitor, path)
      if (order.status === "Paid") {
        const back = yield* finish(visitor, actor, order)
        // The Content-Security-Policy of the payment page also applies to the redirects that follow its form. A
        // redirect to the partner could be blocked, so the chain of redirects ends with a page of this site.
        const isChained =
          query["again"] === undefined && (request.headers["accept"] ?? "").includes("text/html")
        return isChained ? boughtPage(visitor, boughtIds(order), `${path}&again`) : back
      }
      return notPaidPage(visitor, order.context.payments.length > 0)
    }).pipe(sendEarlyReply),
})
