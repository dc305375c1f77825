import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { expectInvariants } from "../oracle.ts"
import { newShopper } from "../shopper.ts"
import { intentOf, openStripe, tellOf } from "./stripe-server.ts"

const stripe = await openStripe()
const service = await serve(stripe.settings)
const sessionsAsked = () => stripe.asked.filter(({ path }) => path === "/v1/checkout/sessions")
const price = "line_items[0][price_data][unit_amount]"

const ways = {
  cash: (id: string) => [`/cart/checkout/${id}`, { method: "Cash", amount: 100 }] as const,
  "a payment made elsewhere": (id: string) =>
    [`/orders/${id}/payment_override`, { amount: 100, external_reference: "wire 7" }] as const,
}

it.each(Object.entries(ways))(
  "a new Stripe session requests only the remaining amount after a part payment (%s)",
  async (_, way) => {
    const admin = await newShopper(service, { role: "Admin" })
    const { buyer, order } = await stripe.pendingOrder(service)
    const first = order.payment_method_data.session_id
    const [path, part] = way(order.id)
    expect((await admin.call("POST", path, part)).status).toBe(200)
    const rest = order.total_in_cents - 100
    const { body } = await buyer.cart()
    expect(body).toMatchObject({ status: "PendingPayment", remaining_due_in_cents: rest })
    expect(body.payment_method_data.session_id).not.toBe(first)
    expect(sessionsAsked().at(-1)?.form.get(price)).toBe(String(rest))
    expect(stripe.asked.map(({ path }) => path)).toContain(`/v1/checkout/sessions/${first}/expire`)
    await tellOf(service, "payment_intent.succeeded", intentOf(order.id, rest, `pi_${order.id}`))
    expect((await buyer.order(order.id)).body).toMatchObject({ status: "Paid", amount_overpaid_in_cents: 0 })
    await expectInvariants(service.sql)
  },
)
