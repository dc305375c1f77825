import { randomUUID } from "node:crypto"
import type { TestService, TestUser } from "../../fixtures/service.ts"
import { atSandbox, card, crypto, freshId, until } from "../../orders/shopper.ts"
import { age, codeFor, grant } from "../../transfers/transfer-service.ts"
import { done, type Prepare } from "./keyed-request.ts"

const newAdmin = (service: TestService) => service.user({ role: "Admin" })

const newTransfer = async (service: TestService, to?: string) => {
  const sender = await service.user()
  const receiver = await service.user()
  const eid = freshId()
  await grant(service, sender, eid)
  const { id } = await done(service, sender, "POST", "/transfers", { eid, email: to ?? receiver.email })
  return { sender, receiver, id, path: `/transfers/${id}` }
}

/** A transfer that the sender has confirmed. */
const newConfirmed = async (service: TestService) => {
  const transfer = await newTransfer(service)
  const { id, path, sender } = transfer
  const code = await codeFor(service, sender.email, id)
  await done(service, sender, "POST", `${path}/sender_accept`, { code })
  return transfer
}

const other = (code: string) => (code === "000000" ? "000001" : "000000")

const newCart = async (service: TestService, facts: Parameters<TestService["user"]>[0] = {}) => {
  const buyer = await service.user(facts)
  const cart = await done(service, buyer, "POST", "/cart", { items: [{ emoji_id: freshId() }] })
  return { buyer, cart }
}

const newPending = async (service: TestService, method: { readonly method: string } = card) => {
  const { buyer } = await newCart(service)
  return { buyer, order: await done(service, buyer, "POST", "/cart/checkout", method) }
}

/** Whether the sandbox has delivered all of its reports. */
const isReported = async ({ sql }: TestService) =>
  (await sql`select 1 from sandbox_webhook where delivered_at is null`).length === 0

/** An order that was paid at the sandbox. */
const newPaid = async (service: TestService) => {
  const { buyer, order } = await newPending(service)
  await atSandbox(service, order.payment_method_data.session_id, "pay")
  const token = { token: buyer.token }
  const paid = await until(
    async () => (await service.call("GET", `/orders/${order.id}`, token)).body,
    ({ status }) => status === "Paid",
  )
  return { buyer, order: paid }
}

const booking = (amount: number) => ({ amount, external_reference: randomUUID() })

const newMethods = async ({ sql }: TestService, { id: user }: TestUser) => {
  const id = `pm_${randomUUID()}`
  for (const one of [id, `pm_${randomUUID()}`])
    await sql`insert into payment_method (id, user_id, provider, payment_type) values (${one}, ${user}, 'sandbox', 'card')`
  return `/payment_methods/${id}`
}

const checkoutOf =
  (method: { readonly method: string }, facts: Parameters<TestService["user"]>[0] = {}): Prepare =>
  async (service) => {
    const { buyer } = await newCart(service, facts)
    return { method: "POST", path: "/cart/checkout", options: { token: buyer.token, body: method } }
  }

export const orderRequests: Record<string, Prepare> = {
  requestTransfer: async (service) => {
    const sender = await service.user()
    const eid = freshId()
    await grant(service, sender, eid)
    const email = `invited-${randomUUID()}@example.com`
    return { method: "POST", path: "/transfers", options: { token: sender.token, body: { eid, email } } }
  },
  "requestTransfer, forced": async (service) => {
    const eid = freshId()
    await grant(service, await service.user(), eid)
    const { email } = await service.user()
    const { token } = await newAdmin(service)
    return {
      method: "POST",
      path: "/transfers",
      options: { token, body: { eid, email, force_transfer: true } },
    }
  },
  deleteTransfer: async (service) => {
    const { path, sender } = await newTransfer(service)
    return { method: "DELETE", path, options: { token: sender.token } }
  },
  senderAcceptTransfer: async (service) => {
    const { id, path, sender } = await newTransfer(service)
    const body = { code: await codeFor(service, sender.email, id) }
    return { method: "POST", path: `${path}/sender_accept`, options: { token: sender.token, body } }
  },
  "senderAcceptTransfer, wrong code": async (service) => {
    const { id, path, sender } = await newTransfer(service)
    const body = { code: other(await codeFor(service, sender.email, id)) }
    return {
      method: "POST",
      path: `${path}/sender_accept`,
      options: { token: sender.token, body },
      status: 422,
    }
  },
  receiverAcceptTransfer: async (service) => {
    const { id, path, receiver } = await newConfirmed(service)
    const body = { code: await codeFor(service, receiver.email, id) }
    return { method: "POST", path: `${path}/receiver_accept`, options: { token: receiver.token, body } }
  },
  "receiverAcceptTransfer, wrong code": async (service) => {
    const { id, path, receiver } = await newConfirmed(service)
    const body = { code: other(await codeFor(service, receiver.email, id)) }
    return {
      method: "POST",
      path: `${path}/receiver_accept`,
      options: { token: receiver.token, body },
      status: 422,
    }
  },
  resendCode: async (service) => {
    const { id, path, sender } = await newTransfer(service)
    await age(service, id, 61)
    return { method: "POST", path: `${path}/resend_code`, options: { token: sender.token } }
  },
  addItems: async (service) => {
    const { token } = await service.user()
    const body = {
      items: [{ emoji_id: freshId() }, { emoji_id: freshId() }],
      tracking_data: { from: "here" },
    }
    return { method: "POST", path: "/cart", options: { token, body } }
  },
  clearCart: async (service) => {
    const { buyer } = await newCart(service)
    return { method: "DELETE", path: "/cart", options: { token: buyer.token } }
  },
  "clearCart, pending payment": async (service) => {
    const { buyer } = await newPending(service)
    return { method: "DELETE", path: "/cart", options: { token: buyer.token } }
  },
  removeItem: async (service) => {
    const { buyer, cart } = await newCart(service)
    const path = `/cart/cart_items/${cart.order_items[0].id}`
    return { method: "DELETE", path, options: { token: buyer.token } }
  },
  checkout: checkoutOf(card),
  "checkout, Free": checkoutOf({ method: "Free" }, { freeLimit: 5 }),
  "checkout, crypto": checkoutOf(crypto),
  "checkout, Cash": checkoutOf({ method: "Cash" }, { role: "Admin" }),
  "checkout, other method": async (service) => {
    const { buyer } = await newPending(service)
    return { method: "POST", path: "/cart/checkout", options: { token: buyer.token, body: crypto } }
  },
  "checkout, lootbox": async (service) => {
    const admin = await newAdmin(service)
    const yats = [freshId(), freshId()]
    const { id } = await done(service, admin, "POST", "/lootboxes", { status: "Available", yats })
    await done(service, admin, "POST", "/cart", { items: [{ lootbox_id: id }] })
    const body = { method: "Cash" }
    return { method: "POST", path: "/cart/checkout", options: { token: admin.token, body } }
  },
  checkoutOrder: async (service) => {
    const { buyer, cart } = await newCart(service)
    return { method: "POST", path: `/cart/checkout/${cart.id}`, options: { token: buyer.token, body: card } }
  },
  "checkoutOrder, part in cash": async (service) => {
    const { order } = await newPending(service)
    const { token } = await newAdmin(service)
    const body = { method: "Cash", amount: 1 }
    return { method: "POST", path: `/cart/checkout/${order.id}`, options: { token, body } }
  },
  convertOrderToDraft: async (service) => {
    const { buyer } = await newPending(service)
    return { method: "POST", path: "/cart/convert_to_draft", options: { token: buyer.token } }
  },
  applyPromoCode: async (service) => {
    const { buyer } = await newPending(service)
    const code = randomUUID().slice(0, 20)
    const discount = { name: "a code", code_type: "Discount", discount_in_cents: 5, redemption_code: code }
    await done(service, await newAdmin(service), "POST", "/codes", discount)
    return { method: "POST", path: "/cart/promo_code", options: { token: buyer.token, body: { code } } }
  },
  refundOrder: async (service) => {
    const { order } = await newPaid(service)
    const { token } = await newAdmin(service)
    return {
      method: "POST",
      path: `/orders/${order.id}/refund`,
      options: { token, body: { amount: 1 } },
      isSettled: () => isReported(service),
    }
  },
  overrideRefund: async (service) => {
    const { order } = await newPaid(service)
    const { token } = await newAdmin(service)
    return {
      method: "POST",
      path: `/orders/${order.id}/refund_override`,
      options: { token, body: booking(1) },
    }
  },
  overridePayment: async (service) => {
    const { order } = await newPending(service)
    const { token } = await newAdmin(service)
    const body = booking(order.total_in_cents)
    return { method: "POST", path: `/orders/${order.id}/payment_override`, options: { token, body } }
  },
  "overridePayment, in part": async (service) => {
    const { order } = await newPending(service)
    const { token } = await newAdmin(service)
    return {
      method: "POST",
      path: `/orders/${order.id}/payment_override`,
      options: { token, body: booking(1) },
    }
  },
  resendOrderConfirmation: async (service) => {
    const { order } = await newPaid(service)
    const { token } = await newAdmin(service)
    return { method: "POST", path: `/orders/${order.id}/resend_confirmation`, options: { token } }
  },
  deletePaymentMethods: async (service) => {
    const user = await service.user()
    return { method: "DELETE", path: await newMethods(service, user), options: { token: user.token } }
  },
  setDefaultPaymentMethod: async (service) => {
    const user = await service.user()
    const path = `${await newMethods(service, user)}/default`
    return { method: "PUT", path, options: { token: user.token } }
  },
}
