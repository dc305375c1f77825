import { describe, expect, it } from "vitest"
import { Deadlines } from "../../../actors/deadlines.ts"
import { liveSocket } from "../../fixtures/live-client.ts"
import { serve, type TestService } from "../../fixtures/service.ts"
import { startWorker } from "../../fixtures/worker.ts"
import { expectInvariants } from "../oracle.ts"
import { intentOf, openStripe, tellOf } from "../payments/stripe-server.ts"
import { atSandbox, card, crypto, freshIds, newShopper, shopper, until } from "../shopper.ts"

const stripe = await openStripe()
const service = await serve({}, { peersPossible: true })
const withStripe = await serve(stripe.settings)
const wallet = { method: "WalletPay" }

const pending = async (method: unknown = card, at: TestService = service) => {
  const buyer = await newShopper(at)
  await buyer.add(...freshIds(2))
  const { body: order } = await buyer.checkout(method)
  return { buyer, order, session: order.payment_method_data.session_id as string }
}
const paid = (buyer: ReturnType<typeof shopper>, id: string) =>
  until(
    () => buyer.order(id),
    ({ body }) => body.status === "Paid",
  )
const intents = (orderId: string, at: TestService = service) =>
  at.sql`select id, method, status, replaced_at is not null as replaced from sandbox_intent
          where order_id = ${orderId} order by created_at`
const claims = (orderId: string) =>
  service.sql`select canonical, claimed_at from claim where holder = ${orderId} order by canonical`
const replacedIn = async (orderId: string, at: TestService = service) => {
  const [row] = await at.sql`select state->'context'->'replaced' as list from entity where id = ${orderId}`
  return row?.["list"] ?? []
}
/** Makes the order due and runs the sweep, as it runs by itself some seconds later. */
const sweepNow = async (orderId: string, at: TestService = service) => {
  await at.sql`update entity set due_at = now(), leased_until = null where id = ${orderId}`
  await at.runtime.runPromise(Deadlines.use((deadlines) => deadlines.sweep))
}

describe("a checkout of a pending order with another payment method", () => {
  it("replaces the payment and keeps the order, its deadline and its holds", async () => {
    const { buyer, order } = await pending()
    const held = await claims(order.id)
    const { body, status } = await buyer.checkout(crypto)
    expect([status, body.id, body.status, body.expires_at]).toEqual([
      200,
      order.id,
      "PendingPayment",
      order.expires_at,
    ])
    expect(body.payment_method_data).toMatchObject({
      method: "CryptoCommerce",
      invoice_id: expect.any(String),
    })
    expect(body.payment_method_data.success_url).toBeUndefined()
    expect(await claims(order.id)).toEqual(held)
    expect(await intents(order.id)).toEqual([
      {
        id: order.payment_method_data.payment_intent_id,
        method: "CardCheckout",
        status: "cancelled",
        replaced: true,
      },
      {
        id: body.payment_method_data.payment_intent_id,
        method: "CryptoCommerce",
        status: "open",
        replaced: false,
      },
    ])
    expect(await replacedIn(order.id)).toEqual([])
    await atSandbox(service, body.payment_method_data.session_id, "pay")
    expect((await paid(buyer, order.id)).body.amount_overpaid_in_cents).toBe(0)
    await expectInvariants(service.sql)
  })

  it("works through /cart/checkout/{id} too, back to the first method, and repeats the payment of the same method", async () => {
    const { buyer, order } = await pending()
    const change = (body: unknown) => buyer.call("POST", `/cart/checkout/${order.id}`, body)
    await change(crypto)
    const { body: back } = await change(card)
    const ids = (await intents(order.id)).map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
    expect(back.payment_method_data.payment_intent_id).toBe(ids[2])
    expect((await change(card)).body.payment_method_data).toEqual(back.payment_method_data)
    expect(await intents(order.id)).toHaveLength(3)
  })

  it("is pushed to the channels `cart` and `order:{id}`", async () => {
    const { buyer, order } = await pending()
    const client = await liveSocket(service.url)()
    client.send({ type: "connect", token: buyer.token })
    for (const channel of ["cart", `order:${order.id}`]) {
      client.send({ type: "subscribe", channel })
      await client.take({ type: "subscribed", channel })
    }
    await buyer.checkout(crypto)
    const data = {
      order_id: order.id,
      status: "PendingPayment",
      method: "CryptoCommerce",
      expires_at: order.expires_at,
    }
    expect((await client.take({ type: "event", channel: "cart" })).data).toMatchObject(data)
    expect((await client.take({ type: "event", channel: `order:${order.id}` })).data).toMatchObject(data)
    client.close()
  })

  it("removes the message about a declined card, and a card that is declined later does not add one", async () => {
    const { buyer, order, session } = await pending()
    await atSandbox(service, session, "decline")
    const declined = await until(buyer.cart, ({ body }) => body.last_payment_error !== undefined)
    expect(declined.body.last_payment_error).toBe("Your card was declined.")
    expect((await buyer.checkout(crypto)).body.last_payment_error).toBeUndefined()
    await atSandbox(service, session, "decline")
    await until(
      () =>
        service.sql`select 1 from sandbox_webhook where payload like ${`%${order.id}%`} and delivered_at is null`,
      (waiting) => waiting.length === 0,
    )
    expect((await buyer.cart()).body.last_payment_error).toBeUndefined()
  })

  it("by an administrator in cash or by the buyer for free pays the order and cancels the payment", async () => {
    const admin = await newShopper(service, { role: "Admin" })
    const cash = await pending()
    const { body } = await admin.call("POST", `/cart/checkout/${cash.order.id}`, { method: "Cash" })
    expect([body.status, body.amount_overpaid_in_cents]).toEqual(["Paid", 0])
    const free = await newShopper(service, { freeLimit: 1 })
    await free.add(...freshIds(1))
    const { body: order } = await free.checkout(card)
    expect((await free.checkout({ method: "Free" })).body.status).toBe("Paid")
    for (const id of [cash.order.id, order.id]) {
      expect(await intents(id)).toMatchObject([{ status: "cancelled", replaced: true }])
      expect(await replacedIn(id)).toEqual([])
    }
  })

  it("leaves exactly one open payment, that of the order, after many concurrent changes", async () => {
    const { buyer, order } = await pending()
    const all = [crypto, wallet, card, crypto, wallet, card]
    const answers = await Promise.all(all.map((method) => buyer.checkout(method)))
    expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200))
    const { body } = await buyer.cart()
    const open =
      await service.sql`select id from sandbox_intent where order_id = ${order.id} and status = 'open'`
    expect(open).toEqual([{ id: body.payment_method_data.payment_intent_id }])
    expect([body.expires_at, await replacedIn(order.id)]).toEqual([order.expires_at, []])
  })
})

describe("the page of a replaced payment", () => {
  it("says that the payment was replaced, has no button to pay, and refuses a payment", async () => {
    const { buyer, session } = await pending()
    await buyer.checkout(crypto)
    const { text } = await service.call("GET", `/sandbox/checkout/${session}`)
    expect(text).toContain("This payment was replaced")
    expect(text).not.toContain('value="pay"')
    const refused = await atSandbox(service, session, "pay")
    expect([refused.status, refused.text.includes("replaced by another payment method")]).toEqual([409, true])
    expect((await buyer.cart()).body.status).toBe("PendingPayment")
  })
})

describe("a payment of the old method", () => {
  it("that the provider captured without a report pays the order during the change", async () => {
    const { buyer, order } = await pending()
    const id = order.payment_method_data.payment_intent_id
    await service.sql`with paid as (update sandbox_intent set paid_cents = cents where id = ${id} returning cents)
                      insert into sandbox_payment (id, intent_id, cents, outcome)
                      select ${`pay_${id}`}, ${id}, cents, 'captured' from paid`
    const { body } = await buyer.checkout(crypto)
    expect([body.id, body.status, body.amount_overpaid_in_cents]).toEqual([order.id, "Paid", 0])
    expect((await intents(order.id)).map(({ status }) => status)).toEqual(["cancelled", "cancelled"])
    await expectInvariants(service.sql)
  })

  it("on the chain after the change pays the order, and the new payment is cancelled", async () => {
    const { buyer, order, session } = await pending(crypto)
    await buyer.checkout(card)
    await atSandbox(service, session, "pay")
    expect((await paid(buyer, order.id)).body).toMatchObject({ status: "Paid", amount_overpaid_in_cents: 0 })
    await expect
      .poll(() => intents(order.id))
      .toMatchObject([{ status: "cancelled" }, { status: "cancelled" }])
  })

  it("is an overpayment if the new payment was made too", async () => {
    const { buyer, order, session } = await pending(crypto)
    const { body } = await buyer.checkout(card)
    await atSandbox(service, body.payment_method_data.session_id, "pay")
    await paid(buyer, order.id)
    await atSandbox(service, session, "pay")
    const both = await until(
      () => buyer.order(order.id),
      (answer) => answer.body.amount_overpaid_in_cents > 0,
    )
    expect(both.body).toMatchObject({ status: "Paid", amount_overpaid_in_cents: order.total_in_cents })
    await expectInvariants(service.sql)
  })

  it("before the change closes the order, so that the change is refused", async () => {
    const { buyer, order, session } = await pending()
    await atSandbox(service, session, "pay")
    await paid(buyer, order.id)
    const { body, status } = await buyer.call("POST", `/cart/checkout/${order.id}`, crypto)
    expect([status, body.state]).toEqual([409, "Paid"])
  })

  it("that Stripe does not cancel because it is captured pays the order at once, and its webhook changes nothing", async () => {
    const { buyer, order } = await pending(card, withStripe)
    const session = order.payment_method_data.session_id
    const payment = { ...intentOf(order.id, order.total_in_cents, `pi_${order.id}`), status: "succeeded" }
    stripe.intents.set(session, { id: session, payment_intent: payment })
    stripe.how.refuses = ({ path }) => path.endsWith("/expire")
    const { body } = await buyer.checkout(wallet)
    stripe.how.refuses = () => false
    expect([body.id, body.status, body.amount_overpaid_in_cents]).toEqual([order.id, "Paid", 0])
    expect((await tellOf(withStripe, "payment_intent.succeeded", payment)).status).toBe(200)
    expect((await buyer.order(order.id)).body.amount_overpaid_in_cents).toBe(0)
    await expectInvariants(withStripe.sql)
  })
})

describe("a change of the payment method that is interrupted", () => {
  it("while Stripe is unavailable cancels the old payment as soon as Stripe answers", async () => {
    const { buyer, order } = await pending(card, withStripe)
    stripe.asked.length = 0
    stripe.how.failing = { status: 500, body: { error: { type: "api_error", message: "down" } } }
    const { body } = await buyer.checkout(crypto)
    stripe.how.failing = undefined
    expect(body.payment_method_data.method).toBe("CryptoCommerce")
    expect(await replacedIn(order.id, withStripe)).toHaveLength(1)
    stripe.asked.length = 0
    await sweepNow(order.id, withStripe)
    expect(
      stripe.asked.some(({ path }) => path.endsWith(`${order.payment_method_data.session_id}/expire`)),
    ).toBe(true)
    expect(await replacedIn(order.id, withStripe)).toEqual([])
  })

  it("while Stripe is unavailable leaves no payment of the old amount when a part is paid in cash", async () => {
    const admin = await newShopper(withStripe, { role: "Admin" })
    const { buyer, order } = await pending(card, withStripe)
    stripe.how.failing = { status: 500, body: { error: { type: "api_error", message: "down" } } }
    await buyer.checkout(crypto)
    const cash = { method: "Cash", amount: 1, external_reference: "part" }
    const { body } = await admin.call("POST", `/cart/checkout/${order.id}`, cash)
    stripe.how.failing = undefined
    expect([body.status, body.remaining_due_in_cents]).toEqual(["PendingPayment", order.total_in_cents - 1])
    const open = (await intents(order.id, withStripe)).filter(({ status }) => status === "open")
    expect(open.map(({ id }) => id)).toEqual([body.payment_method_data.payment_intent_id])
  })

  it.each(["checkout.after_commit", "checkout.after_replaced"])(
    "by a crash at %s ends with one open payment",
    async (FAILPOINT) => {
      const { buyer, order } = await pending()
      const worker = await startWorker(service.database, { FAILPOINT })
      await expect(shopper(worker, buyer).checkout(crypto)).rejects.toThrow()
      expect(await worker.exited).toBe("SIGKILL")
      await sweepNow(order.id)
      expect(await intents(order.id)).toMatchObject([
        { method: "CardCheckout", status: "cancelled", replaced: true },
        { method: "CryptoCommerce", status: "open" },
      ])
      expect(await replacedIn(order.id)).toEqual([])
      const { body } = await buyer.checkout(crypto)
      expect([body.status, body.expires_at]).toEqual(["PendingPayment", order.expires_at])
      await expectInvariants(service.sql)
    },
  )
})
