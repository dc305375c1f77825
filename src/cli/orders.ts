import { Effect, Schema } from "effect"
import { InvalidRequest, NotFound } from "../../schema/errors.ts"
import { OrderStatus, RefundOverrideRequest, RefundRequest } from "../../schema/orders/order.ts"
import { pageNumber, pageRequest } from "../../schema/paging.ts"
import { recordEvent } from "../accounts/security-log/security-log.ts"
import { OrderHistory } from "../orders/history.ts"
import { Orders, orderList } from "../orders/order-store.ts"
import { OrderViews } from "../orders/order-view.ts"
import { Refunds } from "../orders/refunds/refunds.ts"
import {
  type Command,
  checked,
  checkedWord,
  type Input,
  isUuid,
  optionOf,
  userId,
} from "./command-line/command.ts"
import { withOrders } from "./order-services.ts"

const pageSize = 50
const ListOptions = Schema.Struct({ page: pageNumber })
const hasFlag = ({ options }: Input, name: string): boolean => options[name] !== undefined

const find = Effect.fnUntraced(function* (input: Input, number?: string) {
  const [status, user] = [optionOf(input, "status"), optionOf(input, "user")]
  const { page = "0" } = yield* checked(ListOptions, { page: optionOf(input, "page") ?? "0" })
  const filter = {
    userId: user === undefined ? undefined : yield* userId(user),
    status: status === undefined ? undefined : yield* checkedWord("status", OrderStatus.literals, status),
    holdsMoney: hasFlag(input, "holds-money") ? true : undefined,
    number,
  }
  const request = yield* pageRequest(orderList, { limit: String(pageSize), page })
  const { rows } = yield* Orders.use((orders) => orders.list(filter, request))
  return yield* OrderViews.use((views) => views.showMany(rows))
})

/** Returns the id of an order. `name` is its number or its id. An id is returned without a lookup. */
const orderId = Effect.fnUntraced(function* (name: string) {
  if (isUuid(name)) return name.toLowerCase()
  const [found] = yield* find({ words: [], options: {} }, name.trim().toLowerCase())
  return found?.id ?? (yield* new NotFound({ error: `Order not found: ${name}` }))
})

const list: Command = {
  name: "orders list",
  words: [],
  options: ["user", "status", "page"],
  flags: ["holds-money"],
  summary:
    "List orders, newest first, 50 per page. --status is Draft, PendingPayment, Paid or Cancelled. --holds-money lists unpaid orders with money that was not refunded",
  example: "--user ada@example.com --status Paid",
  run: (input) =>
    withOrders(find(input)).pipe(
      Effect.map((orders) =>
        orders.map((order) => ({
          order: order.order_number,
          status: order.status,
          user: order.user.email ?? order.user_id,
          cents: order.total_in_cents,
          due: order.remaining_due_in_cents,
          refunded: order.refunded_total_in_cents,
          items: order.order_items.length,
          created_at: order.created_at,
          id: order.id,
        })),
      ),
    ),
}

const shown = Effect.fnUntraced(function* (id: string) {
  const { order_items, payment_method_data, user, ...order } = yield* OrderHistory.use((history) =>
    history.showById(id),
  )
  return {
    ...order,
    user: user.email ?? order.user_id,
    ...(payment_method_data === undefined
      ? {}
      : { method: payment_method_data.method, payment_intent: payment_method_data.payment_intent_id }),
    items: order_items.map((item) => ({
      id: item.id,
      item: item.emoji_id ?? item.item_type,
      cents: item.unit_price_in_cents,
      refunded: item.refunded_quantity,
    })),
  }
})

const show: Command = {
  name: "orders show",
  words: ["order"],
  summary: "Show an order with its items, payments and what it allows",
  run: ({ words: [order = ""] }) => withOrders(Effect.flatMap(orderId(order), shown)),
}

/** A number, or the text as it was given, so that the check of the value refuses it. */
const centsOf = (input: Input) => {
  const given = optionOf(input, "cents")
  return given !== undefined && /^\d+$/.test(given) ? Number(given) : given
}

const refund: Command = {
  name: "orders refund",
  words: ["order"],
  options: ["cents", "reason"],
  flags: ["keep-ids"],
  summary:
    "Refund an order through its payment provider: everything, or --cents. The ids of fully refunded items are released, unless --keep-ids is set. Each run is a new refund",
  example: '0198a7c2-6d3e-7a40-9b1c-2f4d5e6a7b80 --cents 500 --reason "Charged twice"',
  run: (input) =>
    Effect.gen(function* () {
      const id = yield* orderId(input.words[0] ?? "")
      const request = yield* checked(RefundRequest, {
        amount: centsOf(input) ?? null,
        reason: optionOf(input, "reason") ?? null,
        keep_ids: hasFlag(input, "keep-ids"),
      })
      const { context } = yield* Refunds.use((refunds) => refunds.run(id, request, undefined))
      const details = { order_id: id, cents: request.amount ?? null }
      yield* recordEvent({ event: "order.refunded", userId: context.userId, details })
      return yield* shown(id)
    }).pipe(withOrders),
}

const refundOverride: Command = {
  name: "orders refund-override",
  words: ["order"],
  options: ["cents", "reference", "reason"],
  summary:
    "Book a refund that was made elsewhere, for example at the bank. --cents and --reference are required. The same --reference is booked once",
  example: "0198a7c2-6d3e-7a40-9b1c-2f4d5e6a7b80 --cents 500 --reference bank-4711",
  run: (input) =>
    Effect.gen(function* () {
      for (const name of ["cents", "reference"])
        if (optionOf(input, name) === undefined)
          return yield* new InvalidRequest({ error: `Missing option: --${name}` })
      const id = yield* orderId(input.words[0] ?? "")
      const { amount, external_reference, reason } = yield* checked(RefundOverrideRequest, {
        amount: centsOf(input),
        external_reference: optionOf(input, "reference"),
        reason: optionOf(input, "reason") ?? null,
      })
      const refund = { cents: amount, externalReference: external_reference, reason: reason ?? undefined }
      const { context } = yield* Refunds.use((refunds) => refunds.record(id, refund))
      const details = { order_id: id, cents: amount }
      yield* recordEvent({ event: "order.refund_overridden", userId: context.userId, details })
      return yield* shown(id)
    }).pipe(withOrders),
}

const receipt: Command = {
  name: "orders receipt",
  words: ["order"],
  summary: "Send the receipt of a paid order to its buyer again",
  run: ({ words: [order = ""] }) =>
    Effect.gen(function* () {
      const id = yield* orderId(order)
      yield* OrderHistory.use((history) => history.resendReceipt(id))
      return { order: id, receipt: "is sent by the service" }
    }).pipe(withOrders),
}

export const orderCommands: ReadonlyArray<Command> = [list, show, refund, refundOverride, receipt]
