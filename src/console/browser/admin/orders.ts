import type { DisplayOrder } from "../../../client/api-types.ts"
import { actionButton, actionForm, confirmButton } from "../parts/actions.ts"
import { badge, choice, emojiLine, empty, field, fill, h } from "../parts/dom.ts"
import { dollars, when, words } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { type Cursor, drawPaged, type Section, table } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { explain } from "../platform/http.ts"
import { searchForm } from "./search-form.ts"

type Order = DisplayOrder
type Status = Order["status"]
type Item = Order["order_items"][number]
type Again = () => Promise<void>

const kinds: Readonly<Record<Status, string>> = {
  Paid: "good",
  PendingPayment: "warn",
  Cancelled: "",
  Draft: "",
}

const statuses = Object.keys(kinds) as ReadonlyArray<Status>

/** Why a refund did not release an id or a lootbox. */
const reasons: Readonly<Record<Exclude<NonNullable<Item["not_released_reason"]>, "requested">, string>> = {
  partially_refunded: "only a part of the price was refunded",
  not_owned: "the buyer no longer owns it",
  minted: "it is minted",
  mint_permitted: "it can still be minted",
  in_transfer: "it is in a transfer",
  opened: "it was opened",
}

const contents = (order: Order): ReadonlyArray<string> =>
  order.order_items
    .filter(({ item_type }) => item_type !== "Discount")
    .map((item) => (item.item_type === "EmojiId" ? (item.emoji_id ?? "") : "🎁"))

const buyer = ({ user }: Order): string => user.email ?? user.alternate_id ?? ""

const paymentForm = (order: Order, again: Again) =>
  h(
    "details",
    {},
    h("summary", {}, "Record a payment"),
    actionForm(
      {
        label: "Record payment",
        plain: true,
        submit: async (values) => {
          const amount = Math.round(Number(values.text("amount")) * 100)
          const body = { amount, external_reference: values.text("external_reference") }
          // The reference identifies the payment, so a payment that is entered again in another tab is recorded once.
          await call("POST /orders/{id}/payment_override", { params: { id: order.id }, body })
          notify("The payment was recorded.", "good")
          await again()
        },
      },
      field("Amount in US dollars", {
        name: "amount",
        type: "number",
        min: "0.01",
        step: "0.01",
        required: true,
      }),
      field("Reference", { name: "external_reference", maxlength: "200", required: true }),
    ),
  )

/** The ids that the refund of the order did not release, with the reason. */
const keptIds = ({ order_items: items }: Order): ReadonlyArray<string> =>
  items.flatMap(({ emoji_id = "Lootbox", not_released_reason: reason }) =>
    reason === undefined || reason === "requested" ? [] : [`${emoji_id}: ${reasons[reason]}`],
  )

interface Refund {
  readonly label: string
  readonly keeps: boolean
  readonly consequence: string
}

const refundButton = (order: Order, again: Again, { consequence, keeps, label }: Refund) =>
  confirmButton(
    label,
    {
      question: `Refund order ${order.order_number}?`,
      consequence: `The full unrefunded amount is paid back to ${buyer(order)}. ${consequence}`,
    },
    async () => {
      const refunded = await call("POST /orders/{id}/refund", {
        params: { id: order.id },
        body: { keep_ids: keeps },
      })
      const kept = keptIds(refunded)
      const done = `Order ${order.order_number} is being refunded.`
      notify(kept.length === 0 ? done : `${done} Not released: ${kept.join(", ")}.`, "good")
      await again()
    },
    { class: "plain small" },
  )

/** Only a paid order has ids to release. A refund of another order only returns money. */
const refundButtons = (order: Order, again: Again) =>
  order.status === "Paid"
    ? [
        refundButton(order, again, {
          label: "Refund",
          keeps: false,
          consequence: "The buyer loses the ids and unopened lootboxes, and others can buy the ids.",
        }),
        refundButton(order, again, {
          label: "Refund, keep ids",
          keeps: true,
          consequence: "The buyer keeps the ids.",
        }),
      ]
    : [refundButton(order, again, { label: "Refund", keeps: true, consequence: "" })]

const actions = (order: Order, again: Again) =>
  h(
    "div",
    { class: "cell-actions" },
    order.allowed_actions.includes("refund") && refundButtons(order, again),
    order.status === "Paid" &&
      actionButton(
        "Resend receipt",
        async () => {
          await call("POST /orders/{id}/resend_confirmation", { params: { id: order.id } })
          notify("The receipt was sent again.", "good")
        },
        { sign: "mail", class: "plain small" },
      ),
    order.status === "PendingPayment" && paymentForm(order, again),
  )

const row = (order: Order, again: Again) => [
  [h("code", {}, order.order_number), h("br"), h("span", { class: "soft small" }, when(order.created_at))],
  h("a", { href: `#/admin/orders/${order.user.id}` }, buyer(order)),
  emojiLine(contents(order)),
  dollars(order.total_in_cents),
  badge(words(order.status), kinds[order.status]),
  actions(order, again),
]

/** Draws all orders, or the orders of the user in the URL. */
export const drawOrders: Section["draw"] = async (place, _lifetime, [userId]) => {
  const list = h("div", {})
  let status: Status | undefined
  let orderNumber = ""
  const load = (cursor: Cursor) => {
    const query = {
      limit: 20,
      ...(userId === undefined ? { all: true } : { user_id: userId }),
      ...(status === undefined ? {} : { status }),
      ...(orderNumber === "" ? {} : { order_number: orderNumber }),
      ...cursor,
    }
    return call("GET /orders", { query })
  }
  const start = () =>
    drawPaged(list, load, (orders, again) =>
      orders.length === 0
        ? empty("🧾", "No orders.")
        : table(
            ["Order", "Buyer", "Ids", "Total", "Status", ""],
            orders.map((order) => row(order, again)),
          ),
    )
  fill(
    place,
    userId !== undefined &&
      h("p", {}, "Orders of one user. ", h("a", { href: "#/admin/orders" }, "Show all orders")),
    searchForm({
      label: "Order number",
      hint: "The receipt contains the order number.",
      maxlength: 64,
      find: (text) => {
        orderNumber = text
        return start()
      },
    }),
    choice("Show", "status", [["", "All orders"], ...statuses.map((name) => [name, words(name)] as const)], {
      onchange: ({ currentTarget }) => {
        status = statuses.find((one) => one === currentTarget.value)
        start().catch((error: unknown) => notify(explain(error), "bad"))
      },
    }),
    list,
  )
  await start()
}
