import { Effect } from "effect"
import { Conflict, Forbidden, NotFound, Unprocessable, UnsupportedEmoji } from "../../schema/errors.ts"
import { isUuid, text } from "../../schema/wire-format.ts"
import type { BrowserSession } from "../accounts/sessions/browser-sessions.ts"
import { route } from "../http/route.ts"
import { Orders, type StoredOrder } from "../orders/order-store.ts"
import { pageRow } from "../web/page-route.ts"
import { boughtPage, notPaidPage, waitingPage } from "./cart-page.ts"
import type { Visitor } from "./page-shell.ts"
import { boughtIds, writeOrdered } from "./record-writes.ts"
import { answered, getActor, goBack, welcome } from "./visitor.ts"

export const params = { partner_path: text(64) }

export const finish = Effect.fnUntraced(function* (
  guest: Visitor,
  actor: BrowserSession,
  order: StoredOrder,
) {
  yield* writeOrdered(actor.principal, order)
  const [eid] = boughtIds(order)
  return goBack(guest, eid === undefined ? {} : { eid })
})

export const paidPage = route({
  ...pageRow,
  id: "partnerPaid",
  group: "partner flows",
  summary: "Where a payment of flow 1 returns to; goes on to the partner once it is booked",
  method: "get",
  path: "/partner/:partner_path/paid",
  headers: [...pageRow.headers, "accept"],
  params,
  internal: true,
  redirects: [302, 303],
  errors: [Conflict, Forbidden, NotFound, Unprocessable, UnsupportedEmoji],
  handler: (request) =>
    Effect.gen(function* () {
      const { guest, query } = yield* welcome(request, "get")
      const actor = yield* getActor(guest)
      const id = isUuid(query["order"] ?? "") ? query["order"] : undefined
      const order = id === undefined ? undefined : yield* Orders.use((orders) => orders.find(id))
      if (order === undefined || order.context.userId !== actor.account.id) {
        return yield* new NotFound({ error: "There is no such order of yours." })
      }
      const path = `${guest.home}/paid?order=${id}`
      if (order.status === "PendingPayment") return waitingPage(guest, path)
      if (order.status === "Paid") {
        const back = yield* finish(guest, actor, order)
        // The payment page's policy holds for every redirect after its form, so the chain ends with a page of ours.
        const isChained =
          query["again"] === undefined && (request.headers["accept"] ?? "").includes("text/html")
        return isChained ? boughtPage(guest, boughtIds(order), `${path}&again`) : back
      }
      return notPaidPage(guest, order.context.payments.length > 0)
    }).pipe(answered),
})
