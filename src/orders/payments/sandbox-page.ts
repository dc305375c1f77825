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

/** What a tester may want to happen besides paying. */
const mischief = [
  ["underpay", "Pay half of it"],
  ["overpay", "Pay a tenth too much"],
  ["decline", "Let the payment be declined"],
] as const
/** Nobody can stop a transfer on a chain, not even when all is paid. */
const mischiefAfterwards = [["overpay", "Send a tenth of the price once more"]] as const

const tryOut = (all: typeof mischief | typeof mischiefAfterwards): Html => html`<details>
<summary>Try what else may happen</summary>
${all.map(([action, label]) => html`<button class="plain full" name="action" value="${action}">${label}</button>`)}</details>`

const payForm = (due: number): Html => html`<form method="post" class="stack">
<button class="full" name="action" value="pay">Pay ${dollars(due)}</button>
${tryOut(mischief)}</form>`

const nothingToPay = html`<p class="center">There is nothing to pay here any more.</p>`

const chains = (intentId: string, cents: number): Html => html`<h2>Or send one of these</h2>
<ul class="records">${invoiceMethods(intentId, cents).map(
  ({ address, amount, currency, title }) =>
    html`<li><span class="record"><strong>${title}</strong><code>${address}</code></span><span class="price">${amount} ${currency}</span></li>`,
)}</ul>`

/** The page where a buyer would pay. It takes play money and does as it is told. */
export const sandboxCheckoutPage = (session: SandboxSession, said: Content = "") => {
  const { cancelUrl, cents, intentId, method, paidCents, status, successUrl } = session
  const due = Math.max(0, cents - paidCents)
  const isChain = method === "CryptoCommerce"
  const isOpen = due > 0 && (isChain || status === "open")
  return page({
    title: "Sandbox checkout",
    formsLeadOut: successUrl !== null,
    body: html`<main>
<div class="center"><p><span class="play">Play money: nothing is charged</span></p>
<h1 class="amount">${dollars(due)}</h1><p class="soft">${due === 0 ? "nothing left to pay" : "to pay"}</p></div>
${said}
<section class="card"><dl class="facts">
<dt>Price</dt><dd>${dollars(cents)}</dd>
<dt>Paid</dt><dd>${dollars(paidCents)}</dd>
<dt>Method</dt><dd>${methodNames[method] ?? method}</dd>
${status === "cancelled" ? html`<dt>Status</dt><dd class="bad">cancelled</dd>` : ""}
</dl></section>
${isOpen ? payForm(due) : nothingToPay}
${isChain && isOpen ? chains(intentId, due) : ""}
${isChain && !isOpen ? html`<form method="post" class="stack">${tryOut(mischiefAfterwards)}</form>` : ""}
${cancelUrl === null ? "" : html`<p class="center"><a href="${cancelUrl}">Back without paying</a></p>`}
</main>`,
  })
}
