import type { OrderItem } from "../../../machines/orders/context.ts"
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

/** What the payment buys. */
interface SoldItem {
  readonly name: string
  readonly cents: number
}

export const soldItem = ({ cents, emojiId, type }: OrderItem): SoldItem => ({
  name: emojiId ?? (type === "LootBox" ? "Lootbox" : "Discount"),
  cents,
})

const soldItems = (items: ReadonlyArray<SoldItem>): Content =>
  items.length > 0 &&
  html`<section class="card"><h2 class="first">Emoji Id Directory sells you</h2>
<ul class="cart">${items.map(
    ({ cents, name }) => html`<li><span>${name}</span><span class="price">${dollars(cents)}</span></li>`,
  )}</ul></section>`

/** The sandbox page where a buyer makes a test payment. */
export const sandboxCheckoutPage = (
  session: SandboxSession,
  items: ReadonlyArray<SoldItem>,
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
<h1 class="amount">${dollars(isReplaced ? 0 : due)}</h1><p class="soft">${due === 0 || isReplaced ? "Nothing due" : "Due"} to the Emoji Id Directory</p>
<p class="soft small">This page stands for the page of a payment provider.</p></div>
${message}
${soldItems(items)}
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
