import type { OrderContext, OrderItem } from "../../../machines/orders/context.ts"
import { orderNumber } from "../../../machines/orders/effects.ts"
import { totalCents } from "../../../machines/orders/money.ts"
import { notice } from "../../sign-in/login-page.ts"
import { type Content, type Html, html } from "../../web/html.ts"
import { dollars } from "../../web/money.ts"
import { page } from "../../web/page.ts"
import { invoiceMethods } from "./sandbox-rates.ts"
import type { SandboxSession } from "./sandbox-store.ts"

const methodNames = {
  CardCheckout: "Card",
  CryptoCommerce: "Crypto",
  WalletPay: "Wallet",
} as const

/** The buttons for test outcomes other than a full payment. */
const outcomes = [
  ["underpay", "Pay half of the amount due"],
  ["overpay", "Pay 10 % too much"],
  ["decline", "Decline the payment"],
] as const
/** The only test outcome when nothing is due: an on-chain payment can arrive after the price is paid. */
const outcomesAfterPayment = [["overpay", "Pay another 10 % of the price"]] as const

/** The only test outcome of a replaced checkout: an on-chain payment cannot be prevented. */
const outcomesAfterReplacement = [["pay", "Send the on-chain payment anyway"]] as const

const tryOut = (
  all: typeof outcomes | typeof outcomesAfterPayment | typeof outcomesAfterReplacement,
): Html => html`<details>
<summary>Test other outcomes</summary>
${all.map(([action, label]) => html`<button class="plain full" name="action" value="${action}">${label}</button>`)}</details>`

const payForm = (due: number): Html => html`<form method="post" class="stack">
<button class="full" name="action" value="pay">Pay ${dollars(due)}</button>
${tryOut(outcomes)}</form>`

const replacedNotice = notice(
  "This payment was replaced: the order now has another payment method. Do not pay here. Return to your cart to pay.",
  "warn",
)

const nothingToPay = html`<p class="center">Nothing is due on this checkout.</p>`

const chains = (intentId: string, cents: number): Html => html`<h2>Or send one of these</h2>
<ul class="records">${invoiceMethods(intentId, cents).map(
  ({ address, amount, currency, title }) =>
    html`<li><span class="record"><strong>${title}</strong><code>${address}</code></span><span class="price">${amount} ${currency}</span></li>`,
)}</ul>`

const line = (name: Html, cents: number): Html =>
  html`<li>${name}<span class="price">${dollars(cents)}</span></li>`

const itemLine = ({ cents, emojiId, type }: OrderItem): Html =>
  line(
    type === "EmojiId" ? html`<span class="emoji">${emojiId ?? ""}</span>` : html`<span>Lootbox</span>`,
    cents,
  )

/** What is sold, by whom, and for how much. */
const summary = ({ id, items }: OrderContext): Html => {
  const goods = items.filter(({ type }) => type !== "Discount")
  const discount = totalCents(items) - totalCents(goods)
  return html`<section class="card" aria-labelledby="what">
<h2 id="what" class="first">Your order at the Emoji Id Directory</h2>
<p class="soft small">Order no. ${orderNumber(id)}</p>
<ul class="cart order-lines">${goods.map(itemLine)}${discount === 0 ? "" : line(html`<span>Discount</span>`, discount)}</ul>
<p class="total">Total <strong>${dollars(totalCents(items))}</strong></p>
</section>`
}

/** The sandbox page where a buyer makes a test payment. `order` is undefined if the payment is not for it any more. */
export const sandboxCheckoutPage = (
  session: SandboxSession,
  order: OrderContext | undefined,
  message: Content = "",
) => {
  const { cancelUrl, cents, intentId, method, paidCents, status, successUrl } = session
  const due = Math.max(0, cents - paidCents)
  const isChain = method === "CryptoCommerce"
  const isReplaced = session.isReplaced && due > 0
  const isOpen = due > 0 && !isReplaced && (isChain || status === "open")
  const lateOutcomes = isReplaced ? outcomesAfterReplacement : outcomesAfterPayment
  return page({
    title: "Sandbox checkout",
    formsLeadOut: successUrl !== null,
    body: html`<main>
<div class="center"><p><span class="play">Play money: nothing is charged</span></p>
<h1 class="amount">${dollars(isReplaced ? 0 : due)}</h1><p class="soft">${due === 0 || isReplaced ? "Nothing to pay" : "To pay"} to the Emoji Id Directory</p>
<p class="soft small">This is a test page. A production service opens the page of its payment provider here.</p></div>
${message}
${order === undefined ? "" : summary(order)}
<section class="card"><dl class="facts">
<dt>Price</dt><dd>${dollars(cents)}</dd>
<dt>Paid</dt><dd>${dollars(paidCents)}</dd>
<dt>Method</dt><dd>${methodNames[method] ?? method}</dd>
${status === "cancelled" ? html`<dt>Status</dt><dd class="bad">${isReplaced ? "replaced" : "cancelled"}</dd>` : ""}
</dl></section>
${isOpen ? payForm(due) : isReplaced ? replacedNotice : nothingToPay}
${isChain && isOpen ? chains(intentId, due) : ""}
${isChain && !isOpen ? html`<form method="post" class="stack">${tryOut(lateOutcomes)}</form>` : ""}
${cancelUrl === null ? "" : html`<p class="center"><a href="${cancelUrl}">Return without paying</a></p>`}
</main>`,
  })
}
