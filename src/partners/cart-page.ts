import type { DirectoryRecord } from "../../schema/directory/records/record.ts"
import type { DisplayOrder } from "../../schema/orders/order.ts"
import type { PaidMethod } from "../orders/payments/port.ts"
import { describedByNotice, notice } from "../sign-in/login-page.ts"
import { type Content, html } from "../web/html.ts"
import { bigId, spokenName } from "../web/id-tile.ts"
import { dollars } from "../web/money.ts"
import { abortForm, addressList, flowForm, partnerPage, type Visitor } from "./page-shell.ts"

type Item = DisplayOrder["order_items"][number]

const reasons = {
  Taken: "No longer available: another user owns it",
  PendingPurchase: "Another customer is buying it",
} as const

const itemLine = (visitor: Visitor, item: Item, isDraft: boolean) => {
  const lost = item.marked_invalid_at_reason
  const id = typeof item.emoji_id === "string" ? item.emoji_id : undefined
  const kind = item.item_type === "Discount" ? "Discount" : "Lootbox"
  const spoken = id === undefined ? kind : spokenName(id)
  const name = id === undefined ? html`<span>${kind}</span>` : bigId(id)
  return html`<li>${name}<div class="end"><span class="price">${dollars(item.unit_price_in_cents)}${lost !== undefined && html`<br><span class="bad small">${reasons[lost]}</span>`}</span>
${isDraft && flowForm(visitor, html`<input type="hidden" name="item" value="${item.id}"><button class="link" name="action" value="remove" aria-label="Remove ${spoken}">Remove</button>`)}</div></li>`
}

const payButtons = (methods: ReadonlyArray<PaidMethod>): Content => [
  methods.includes("CardCheckout")
    ? html`<button class="full" name="action" value="card">Pay by card</button>`
    : notice("Card payments are not configured on this server.", "warn"),
  methods.includes("CryptoCommerce") &&
    html`<button class="plain full" name="action" value="crypto">Pay with crypto</button>`,
]

/** The other ways to pay a pending order. The service then replaces its payment. */
const otherMethods = (order: DisplayOrder, methods: ReadonlyArray<PaidMethod>): Content => {
  const isCrypto = order.payment_method_data?.method === "CryptoCommerce"
  const [action, label, method] = isCrypto
    ? (["card", "Pay by card instead", "CardCheckout"] as const)
    : (["crypto", "Pay with crypto instead", "CryptoCommerce"] as const)
  return (
    methods.includes(method) &&
    html`<button class="plain full" name="action" value="${action}">${label}</button>`
  )
}

/** The form for a discount code. A code can be applied only to an order that is pending payment. */
const codeForm = (visitor: Visitor): Content =>
  flowForm(
    visitor,
    html`<label for="promo">Discount code</label>
<input id="promo" name="promo_code" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="64" required>
<button class="plain full" name="action" value="promo">Apply code</button>`,
    "card",
  )

export interface CartShown {
  readonly order: DisplayOrder
  /** The addresses that are written to the ids of the order when it is paid in this flow. */
  readonly addresses: ReadonlyArray<DirectoryRecord>
  readonly isFree: boolean
  readonly methods: ReadonlyArray<PaidMethod>
  readonly failed?: string
  readonly mayConfirm?: boolean
}

/**
 * Shows the cart and the payment methods. The addresses are shown again, because the user confirms them by paying.
 */
export const cartPage = (visitor: Visitor, facts: CartShown) => {
  const { addresses, failed, isFree, mayConfirm, order } = facts
  const isDraft = order.status === "Draft"
  // The service refuses the checkout of a cart with such an item.
  const hasTaken = order.order_items.some((item) => item.marked_invalid_at_reason === "Taken")
  const link = order.payment_method_data?.checkout_url
  const { remaining_due_in_cents: due, total_in_cents: total } = order
  // Nothing is left to pay: a code covers the price, or enough was already paid.
  const isSettled = due === 0
  const isPaidFor = due === 0 && total > 0
  const isPartPaid = !isFree && due > 0 && due < total
  const getIt = html`<button class="full" name="action" value="free">${isFree && !isPaidFor ? "Get it for free" : "Complete order"}</button>`
  return partnerPage(visitor, {
    title: "Your cart",
    status: failed === undefined ? 200 : 422,
    body: html`<h1>${isDraft || isSettled ? "Your cart" : "Payment pending"}</h1>
${notice(failed)}
${mayConfirm && flowForm(visitor, html`<button class="full" name="action" value="confirm">Email me a confirmation link</button>`)}
<section class="card"><ul class="cart">${order.order_items.map((item) => itemLine(visitor, item, isDraft))}</ul>
<p class="total"><span>Total</span><strong>${isFree && due > 0 ? html`<s class="soft">${dollars(total)}</s> $0.00` : dollars(total)}</strong></p>
${isPartPaid && html`<p class="total"><span>Still to pay</span><strong>${dollars(due)}</strong></p>`}</section>
${addressList(addresses, "Addresses to add to your emoji id after the purchase")}
${
  isDraft
    ? html`${hasTaken ? notice("Remove the items that are no longer available to continue.", "warn") : flowForm(visitor, isFree || isSettled ? getIt : payButtons(facts.methods), "stack")}
<p><a href="${visitor.home}">Search for another emoji id</a></p>`
    : html`<p class="soft">Reserved for you until ${order.expires_at?.slice(11, 16)} UTC.</p>
${isSettled && flowForm(visitor, getIt)}
${!isSettled && link !== undefined && flowForm(visitor, html`<button class="full" name="action" value="pay">Continue to payment</button>`)}
${!isSettled && flowForm(visitor, otherMethods(order, facts.methods))}
${!isSettled && codeForm(visitor)}
${flowForm(visitor, html`<button class="plain full" name="action" value="draft">Edit cart</button>`)}`
}
${abortForm(visitor)}`,
  })
}

/**
 * The page that asks for a new two-factor code before a purchase, if the last code is older than the grace period.
 */
export const proofPage = (visitor: Visitor, method: string, failed?: string) =>
  partnerPage(visitor, {
    title: "Enter your code",
    status: failed === undefined ? 200 : 422,
    body: html`<h1>Enter your code to buy</h1>${notice(failed)}
${flowForm(
  visitor,
  html`<input type="hidden" name="method" value="${method}"><label for="code">Code from your authenticator app or SMS</label>
<input id="code" name="code" class="code" autocomplete="one-time-code" maxlength="32" required autofocus${describedByNotice(failed)}>
<button class="full" name="action" value="prove">Continue</button>`,
  "card",
)}<p><a href="${visitor.home}?cart">Back to the cart</a></p>`,
  })

/**
 * The page that a buyer sees after returning from the payment, until the payment provider has reported the payment.
 * The page loads itself again every second.
 */
export const waitingPage = (visitor: Visitor, path: string) =>
  partnerPage(visitor, {
    title: "Payment pending",
    headers: { Refresh: `1; url=${path}` },
    body: html`<div class="center"><p class="emoji huge pulse" aria-hidden="true">⏳</p><h1>Your payment is being processed</h1>
<p role="status">This page continues automatically. <a href="${path}">Continue now</a></p></div>`,
  })

export const boughtPage = (visitor: Visitor, ids: ReadonlyArray<string>, path: string) =>
  partnerPage(visitor, {
    title: "Purchase complete",
    headers: { Refresh: `1; url=${path}` },
    body: html`<div class="center">${ids.map((id) => html`<p>${bigId(id, "huge")}</p>`)}<h1>Purchase complete</h1>
<p role="status">You will return to ${visitor.partner.name} automatically. <a href="${path}">Return now</a></p></div>`,
  })

export const notPaidPage = (visitor: Visitor, wasCharged: boolean) =>
  partnerPage(visitor, {
    title: "Order not paid",
    body: html`<div class="center"><p class="emoji huge" aria-hidden="true">⌛</p><h1>The order has expired</h1>
<p>${wasCharged ? "Your payment arrived after another customer bought the emoji id. We refund it." : "It was not paid in time. You were not charged. The emoji ids are still in your cart."}</p>
<p><a class="button" href="${visitor.home}?cart">Back to the cart</a></p></div>`,
  })
