import { randomInt } from "node:crypto"
import { emojis } from "../../schema/emoji.ts"
import { BenchFailure } from "../failure.ts"
import { buildRequest, type Target, urlOfTarget } from "../load/request.ts"
import type { RequestScenario } from "../scenario.ts"
import { singleStatementWrites } from "../side.ts"
import { service } from "../subject.ts"

const connections = 32
const idLength = 6

/** Tokens of buyers, one per connection: a buyer has one cart. */
type Buyers = ReadonlyArray<string>

const register = async (target: Target, n: number): Promise<string> => {
  const response = await fetch(urlOfTarget(target, "/users"), {
    method: "POST",
    headers: { "content-type": "application/json" },
    // Known by an alternate id only: no email to confirm before a checkout.
    body: JSON.stringify({
      alternate_id: `bench-${process.pid}-${Date.now()}-${n}`,
      password: "correct horse battery",
      source: "bench",
    }),
  })
  const { access_token } = (await response.json()) as { access_token?: string }
  if (access_token === undefined) throw new BenchFailure(`a buyer was not registered: ${response.status}`)
  return access_token
}

const freshId = (): string =>
  Array.from({ length: idLength }, () => emojis[randomInt(emojis.length)]!.canonical).join("")

interface Conversation {
  step: "add" | "checkout" | "pay" | "look"
  orderId: string
  sessionId: string
}

const after = { add: "checkout", checkout: "pay", pay: "look", look: "add" } as const

const makeConversations = () => {
  const open: Array<Conversation> = []
  return (connection: number): Conversation =>
    (open[connection] ??= { step: "add", orderId: "", sessionId: "" })
}
const conversation = makeConversations()

/** Four requests and four turns: the cart, the hold, the intent and the payment. So a request counts as a write. */
export const cartCycle: RequestScenario<Buyers> = {
  name: "cart-cycle",
  summary: "add, checkout, pay in the sandbox, owned: whole purchases, four turns each",
  connections,
  subject: service(),
  against: [{ side: singleStatementWrites(), aims: [{ metric: "rate", atLeast: 0.35 }] }],
  prepare: ({ target }) => Promise.all(Array.from({ length: connections }, (_, n) => register(target, n))),
  requests: (target, buyers) => (connection) => {
    const token = buyers[connection % buyers.length] ?? ""
    const headers = { Authorization: `Bearer ${token}` }
    const { orderId, sessionId, step } = conversation(connection)
    switch (step) {
      case "add":
        return buildRequest(target, {
          method: "POST",
          path: "/cart",
          headers,
          body: { items: [{ emoji_id: freshId() }] },
        })
      case "checkout":
        return buildRequest(target, {
          method: "POST",
          path: "/cart/checkout",
          headers,
          body: { method: "CryptoCommerce" },
        })
      case "pay": {
        const form = "action=pay"
        return Buffer.concat([
          buildRequest(target, {
            method: "POST",
            path: `/sandbox/checkout/${sessionId}`,
            headers: {
              "Content-Type": "application/x-www-form-urlencoded",
              "Content-Length": String(form.length),
            },
          }),
          Buffer.from(form),
        ])
      }
      case "look":
        return buildRequest(target, { path: `/orders/${orderId}`, headers })
    }
  },
  statuses: [200, 409],
  check: ({ body, status }, connection) => {
    const open = conversation(connection)
    const { step } = open
    open.step = after[step]
    // A cart an earlier run left at its payment takes nothing more; asked to check out again, it goes on from there.
    if (status === 409) return step === "add"
    if (step === "pay") return true
    const order = JSON.parse(body.toString()) as {
      id: string
      status: string
      payment_method_data?: { session_id: string }
    }
    open.orderId = order.id
    open.sessionId = order.payment_method_data?.session_id ?? open.sessionId
    return step !== "look" || order.status === "Paid"
  },
}
