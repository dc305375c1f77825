import { Auditor } from "../consistency/auditor.ts"
import type { ContestPlan } from "../load/contest.ts"
import { converse, type Talk } from "../load/conversation.ts"
import { buildRequest, type RequestParts, type Target } from "../load/request.ts"
import type { RequestScenario, Scenario } from "../scenario.ts"
import { type RunningServer, singleStatementWrites } from "../side.ts"
import { canonicalAt } from "../stored/ids.ts"
import { keysOf, type MasterKey, openStored } from "../stored/open.ts"
import { storeOrders } from "../stored/orders.ts"
import { storePeople, tokensOf } from "../stored/people.ts"
import { type PaidIntent, webhookSigner } from "../stored/webhooks.ts"
import { service } from "../subject.ts"

const buyers = 1_000
/**
 * The number of emoji in a bought id. No other scenario uses ids of this length, and there are enough of them for
 * every run.
 */
const boughtLength = 6
const spacing = 1_000_000_000

interface Buyers {
  readonly tokens: readonly string[]
  readonly keys: readonly MasterKey[]
  /** The number of the first id to buy. All ids from this number on are free. */
  readonly firstId: number
}

const prepareBuyers = async (server: RunningServer): Promise<Buyers> => {
  await openStored(server, (sql) => storePeople(sql, buyers))
  return {
    tokens: await tokensOf(server, buyers),
    keys: keysOf(server),
    firstId: Math.floor(Math.random() * spacing) * 1000,
  }
}

const request = (target: Target, token: string | undefined, parts: RequestParts): Buffer =>
  buildRequest(target, {
    ...parts,
    headers: { ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }), ...parts.headers },
  })

const checkout = { method: "CryptoCommerce" }

const pendingPattern = /^\{"id":"([^"]+)".*"remaining_due_in_cents":(\d+).*"payment_intent_id":"([^"]+)"/

/**
 * Reads the order id, the payment intent and its amount from the response. A pattern reads them without parsing the
 * whole JSON, because the generator shares the machine with the server.
 */
const toPay = (answer: Buffer): PaidIntent => {
  const [, orderId, cents, intentId] = pendingPattern.exec(answer.toString("latin1")) ?? []
  if (orderId === undefined || intentId === undefined)
    throw new Error("the response contains no pending order")
  return { orderId, intentId, cents: Number(cents) }
}

/**
 * Each connection repeats four requests: add an id to the cart, check out, pay, and look up the id. The first three
 * are each a turn of the order.
 */
export const buy = (target: Target, { tokens, keys, firstId }: Buyers) => {
  const sign = webhookSigner(keys)
  const auditor = new Auditor()
  let bought = 0
  const traffic = converse(function* (connection): Talk {
    const token = tokens[connection % tokens.length]
    const checkOut = request(target, token, { method: "POST", path: "/cart/checkout", body: checkout })
    yield { request: request(target, token, { method: "DELETE", path: "/cart" }) }
    for (;;) {
      const emojiId = canonicalAt(firstId + bought++, boughtLength)
      const items = [{ emoji_id: emojiId }]
      yield {
        request: request(target, token, { method: "POST", path: "/cart", body: { items } }),
        status: 200,
      }
      const pending = yield { request: checkOut, status: 200 }
      const webhook = sign(toPay(pending.body))
      yield {
        request: request(target, undefined, { method: "POST", path: "/webhooks/sandbox", ...webhook }),
        status: 200,
      }
      const found = yield {
        request: request(target, undefined, { path: `/emoji_id/${encodeURIComponent(emojiId)}` }),
      }
      auditor.expect(
        found.status !== 404,
        () => `read your own write: id ${emojiId} was paid, but its lookup returned 404`,
      )
      if (found.status !== 200) throw new Error(`the lookup returned ${found.status}`)
    }
  })
  return { ...traffic, auditor }
}

export const cartCycle: RequestScenario<Buyers> = {
  name: "cart-cycle",
  summary: "add, check out, pay, look up: each request counts as one write",
  sweep: true,
  // With fewer connections, the service and its database would often wait for each other. The baseline gets the same
  // number of connections.
  connections: 512,
  // After a start, Node's JIT needs about this long to compile the code of a cycle.
  firstWarmupSeconds: 20,
  setupSeconds: 15,
  subject: service(),
  against: [
    {
      side: singleStatementWrites(),
      firstWarmupSeconds: 5,
      aims: [{ metric: "rate", atLeast: 0.35 }],
    },
  ],
  prepare: prepareBuyers,
  requests: buy,
}

const fewOrders = service("service with 100 orders")

export const cartGrowth: Scenario<Buyers> = {
  name: "cart-growth",
  summary: "cart cycles with 100,000 stored orders, against 100",
  onRequest: true,
  stored: { curve: "cart cycle, by stored orders", ids: 100_000 },
  subject: service("service with 100,000 orders"),
  against: [{ side: fewOrders, aims: [{ metric: "rate", atLeast: 0.95 }] }],
  prepare: async (server) => {
    const prepared = await prepareBuyers(server)
    await storeOrders(server, server.target.side === fewOrders.name ? 100 : 100_000)
    return prepared
  },
  requests: buy,
}

const uncontended = service("uncontended")

const contest = (target: Target, { tokens, firstId }: Buyers): ContestPlan => {
  const isContended = target.side !== uncontended.name
  const idOf = (buyer: number, round: number) =>
    canonicalAt(firstId + round * buyers + (isContended ? 0 : buyer), boughtLength)
  const of = (buyer: number) => tokens[buyer % buyers]
  return {
    ready: [
      (buyer, round) =>
        request(target, of(buyer), {
          method: "POST",
          path: "/cart",
          body: { items: [{ emoji_id: idOf(buyer, round) }] },
        }),
    ],
    shoot: (buyer) => request(target, of(buyer), { method: "POST", path: "/cart/checkout", body: checkout }),
    hasWon: ({ body, status }) =>
      status === 200 ? true : status === 422 && body.includes("eligibility") ? false : undefined,
    winners: (contestants) => (isContended ? 1 : contestants),
    times: isContended ? "losers" : "all",
    leave: [(buyer) => request(target, of(buyer), { method: "DELETE", path: "/cart" })],
  }
}

export const cartContended: Scenario<Buyers> = {
  name: "cart-contended",
  summary:
    "200 buyers check out the same id simultaneously: one wins; the losers' time against uncontended checkouts",
  connections: 200,
  subject: service("contended"),
  against: [{ side: uncontended, aims: [{ metric: "p99", atMost: 2 }] }],
  prepare: prepareBuyers,
  contest,
}
