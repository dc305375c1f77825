import type { SandboxSession } from "../providers/payments/sandbox.ts"
import { invoiceMethods } from "../providers/payments/sandbox-rates.ts"
import { html } from "./html.ts"
import { page } from "./page.ts"

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`

const originOf = (link: string | null): ReadonlyArray<string> => {
  if (link === null || !URL.canParse(link)) return []
  const { origin, protocol } = new URL(link)
  return [origin === "null" ? protocol : origin]
}

const choices = [
  ["pay", "Pay what is due"],
  ["underpay", "Pay half of it"],
  ["overpay", "Pay a tenth too much"],
  ["decline", "Decline the payment"],
] as const

/** The page where a buyer would pay. It takes play money and does as it is told. */
export const sandboxCheckoutPage = (session: SandboxSession, notice?: string) => {
  const { cancelUrl, cents, intentId, method, paidCents, status, successUrl } = session
  const due = Math.max(0, cents - paidCents)
  const isOpen = method === "CryptoCommerce" || (status === "open" && due > 0)
  return page({
    title: "Sandbox checkout",
    formTargets: [...originOf(successUrl), ...originOf(cancelUrl)],
    body: html`<main>
<h1>Sandbox checkout</h1>
<p>This is play money: nothing is charged.</p>
${notice === undefined ? "" : html`<p role="status">${notice}</p>`}
<dl>
<dt>Price</dt><dd>${dollars(cents)}</dd>
<dt>Paid</dt><dd>${dollars(paidCents)}</dd>
<dt>Due</dt><dd>${dollars(due)}</dd>
<dt>Method</dt><dd>${method}</dd>
${status === "cancelled" ? html`<dt>Status</dt><dd>cancelled</dd>` : ""}
</dl>
${
  method === "CryptoCommerce"
    ? html`<table><thead><tr><th>Currency</th><th>Amount</th><th>Address</th></tr></thead><tbody>
${invoiceMethods(intentId, cents).map(
  ({ address, amount, currency, title }) =>
    html`<tr><td>${title}</td><td>${amount} ${currency}</td><td><code>${address}</code></td></tr>`,
)}</tbody></table>`
    : ""
}
${
  isOpen
    ? html`<form method="post">${choices.map(
        ([action, label]) => html`<button name="action" value="${action}">${label}</button> `,
      )}</form>`
    : html`<p>There is nothing to pay here any more.</p>`
}
${cancelUrl === null ? "" : html`<p><a href="${cancelUrl}">Back without paying</a></p>`}
</main>`,
  })
}
