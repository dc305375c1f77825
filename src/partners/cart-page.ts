import type { DirectoryRecord } from "../../schema/directory/record.ts"
import type { DisplayOrder } from "../../schema/orders/order.ts"
import type { PaidMethod } from "../orders/payments/port.ts"
import { notice, toldBy } from "../sign-in/login-page.ts"
import { type Content, html } from "../web/html.ts"
import { bigId, spokenName } from "../web/id-tile.ts"
import { dollars } from "../web/money.ts"
import { abortForm, addressList, guestForm, partnerPage, type Visitor } from "./page-shell.ts"

type Item = DisplayOrder["order_items"][number]

const reasons = {
  Taken: "Somebody else has it now",
  PendingPurchase: "Somebody is buying it right now",
} as const

const itemLine = (guest: Visitor, item: Item, isDraft: boolean) => {
  const lost = item.marked_invalid_at_reason
  const id = typeof item.emoji_id === "string" ? item.emoji_id : undefined
  const kind = item.item_type === "Discount" ? "Discount" : "Lootbox"
  const spoken = id === undefined ? kind : spokenName(id)
  const name = id === undefined ? html`<span>${kind}</span>` : bigId(id)
  return html`<li>${name}<div class="end"><span class="price">${dollars(item.unit_price_in_cents)}${lost !== undefined && html`<br><span class="bad small">${reasons[lost]}</span>`}</span>
${isDraft && guestForm(guest, html`<input type="hidden" name="item" value="${item.id}"><button class="link" name="action" value="remove" aria-label="Remove ${spoken}">Remove</button>`)}</div></li>`
}

const payButtons = (methods: ReadonlyArray<PaidMethod>): Content => [
  methods.includes("CardCheckout")
    ? html`<button class="full" name="action" value="card">Pay by card</button>`
    : notice("Card payments are not configured on this server.", "warn"),
  methods.includes("CryptoCommerce") &&
    html`<button class="plain full" name="action" value="crypto">Pay with crypto</button>`,
]

export interface CartShown {
  readonly order: DisplayOrder
  /** What its ids are given when it is paid from here. */
  readonly addresses: ReadonlyArray<DirectoryRecord>
  readonly isFree: boolean
  readonly methods: ReadonlyArray<PaidMethod>
  readonly failed?: string
  readonly mayConfirm?: boolean
}

/** The cart and how to pay; what the partner sent along is shown again, because paying agrees to it. */
export const cartPage = (guest: Visitor, facts: CartShown) => {
  const { addresses, failed, isFree, mayConfirm, order } = facts
  const isDraft = order.status === "Draft"
  const link = order.payment_method_data?.checkout_url
  const { remaining_due_in_cents: due, total_in_cents: total } = order
  // A code gave it, or what was paid is enough.
  const isSettled = due === 0
  const isPaidFor = due === 0 && total > 0
  const isPartPaid = !isFree && due > 0 && due < total
  const getIt = html`<button class="full" name="action" value="free">${isFree && !isPaidFor ? "Get it for free" : "Get it"}</button>`
  return partnerPage(guest, {
    title: "Your cart",
    status: failed === undefined ? 200 : 422,
    body: html`<h1>${isDraft || isSettled ? "Your cart" : "Waiting for your payment"}</h1>
${notice(failed)}
${mayConfirm && guestForm(guest, html`<button class="full" name="action" value="confirm">Mail me the link to confirm it</button>`)}
<section class="card"><ul class="cart">${order.order_items.map((item) => itemLine(guest, item, isDraft))}</ul>
<p class="total"><span>Total</span><strong>${isFree && due > 0 ? html`<s class="soft">${dollars(total)}</s> $0.00` : dollars(total)}</strong></p>
${isPartPaid && html`<p class="total"><span>Still to pay</span><strong>${dollars(due)}</strong></p>`}</section>
${addressList(addresses, "Written to your id when it is yours")}
${
  isDraft
    ? html`${guestForm(guest, isFree || isSettled ? getIt : payButtons(facts.methods), "stack")}
<p><a href="${guest.home}">Look for another</a></p>`
    : html`<p class="soft">Held for you until ${order.expires_at?.slice(11, 16)} UTC.</p>
${isSettled && guestForm(guest, getIt)}
${!isSettled && link !== undefined && guestForm(guest, html`<button class="full" name="action" value="pay">Go on to the payment</button>`)}
${guestForm(guest, html`<button class="plain full" name="action" value="draft">Change the cart</button>`)}`
}
${abortForm(guest)}`,
  })
}

/** Sensitive things ask again, when the last code is too long ago. */
export const proofPage = (guest: Visitor, method: string, failed?: string) =>
  partnerPage(guest, {
    title: "Your code",
    status: failed === undefined ? 200 : 422,
    body: html`<h1>A code, before you buy</h1>${notice(failed)}
${guestForm(
  guest,
  html`<input type="hidden" name="method" value="${method}"><label for="code">The code of your authenticator app or SMS</label>
<input id="code" name="code" class="code" autocomplete="one-time-code" maxlength="32" required autofocus${toldBy(failed)}>
<button class="full" name="action" value="prove">Go on</button>`,
  "card",
)}<p><a href="${guest.home}?cart">Back to the cart</a></p>`,
  })

/** Payments are told to us by the provider, a moment after the buyer is back. */
export const waitingPage = (guest: Visitor, path: string) =>
  partnerPage(guest, {
    title: "One moment",
    headers: { Refresh: `1; url=${path}` },
    body: html`<div class="center"><p class="emoji huge pulse" aria-hidden="true">⏳</p><h1>Your payment is on its way</h1>
<p role="status">This page goes on by itself. <a href="${path}">Or press here.</a></p></div>`,
  })

export const boughtPage = (guest: Visitor, ids: ReadonlyArray<string>, path: string) =>
  partnerPage(guest, {
    title: "It is yours",
    headers: { Refresh: `1; url=${path}` },
    body: html`<div class="center">${ids.map((id) => html`<p>${bigId(id, "huge")}</p>`)}<h1>It is yours</h1>
<p role="status">You go back to ${guest.partner.name} now. <a href="${path}">Or press here.</a></p></div>`,
  })

export const notPaidPage = (guest: Visitor, wasCharged: boolean) =>
  partnerPage(guest, {
    title: "Not bought",
    body: html`<div class="center"><p class="emoji huge" aria-hidden="true">⌛</p><h1>The order has run out</h1>
<p>${wasCharged ? "Your payment came after the id was gone to somebody else. You get it back." : "It was not paid in time, and nothing was charged. Your cart still lists what you wanted."}</p>
<p><a class="button" href="${guest.home}?cart">Back to the cart</a></p></div>`,
  })
