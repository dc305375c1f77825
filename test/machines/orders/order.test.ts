import { describe, expect, it } from "vitest"
import { initialTransition, transition } from "xstate"
import { makeTransition } from "../../../actors/transition.ts"
import type {
  Checkout,
  OrderContext,
  OrderEvent,
  OrderItem,
  Payment,
  Refund,
} from "../../../machines/orders/context.ts"
import { journal, overpaidCents, refundableCents } from "../../../machines/orders/money.ts"
import { orderMachine } from "../../../machines/orders/order.ts"

const at = "2030-01-01T00:00:00.000Z"
const later = (seconds: number) => new Date(Date.parse(at) + seconds * 1000).toISOString()

const item = (claim: string, cents = 500): OrderItem => ({
  id: `item-${claim}`,
  type: "EmojiId",
  claim,
  emojiId: claim,
  cents,
  createdAt: at,
  updatedAt: at,
})
const discount = (parent: OrderItem, cents: number): OrderItem => ({
  id: `discount-${parent.id}`,
  type: "Discount",
  parentId: parent.id,
  codeId: "code-1",
  cents: -cents,
  createdAt: at,
  updatedAt: at,
})
const items = [item("🚀🚀"), item("🐙🐙")]
const checkout: Checkout = {
  method: "CardCheckout",
  at,
  expiresAt: later(300),
  pubkey: "key",
  email: "a@b.c",
}
const payment = (cents: number, fact = "sandbox:p1"): Payment => ({
  fact,
  provider: "sandbox",
  intentId: "i1",
  cents,
  at,
})
const refund = (cents: number, facts: Partial<Refund> = {}): Refund => ({
  id: "r1",
  provider: "sandbox",
  intentId: "i1",
  cents,
  itemIds: [],
  status: "Pending",
  ofSale: true,
  at,
  ...facts,
})
const intent = { attempt: 1, provider: "sandbox", intentId: "i1", sealedSecret: "s", methods: [] }

const free = items.flatMap((one) => [one, discount(one, one.cents)])
const events: Record<string, OrderEvent> = {
  add: { type: "add", items: [item("🌵🌵")], at },
  remove: { type: "remove", itemId: items[0]!.id, at },
  clear: { type: "clear", at },
  "checkout.payment": { type: "checkout.payment", items, checkout, at },
  "checkout.free": { type: "checkout.free", items: free, checkout, freeIds: 2, at },
  "checkout.cash": { type: "checkout.cash", items, checkout, payment: payment(1000, "cash:1"), at },
  "checkout.cash, too little": { type: "checkout.cash", items, checkout, payment: payment(1, "cash:1"), at },
  promo_code: {
    type: "promo_code",
    discounts: [discount(items[0]!, 100)],
    code: { codeId: "code-1", count: 1 },
    at,
  },
  "intent.made": { type: "intent.made", intent, at },
  convert_to_draft: { type: "convert_to_draft", at },
  cancel: { type: "cancel", at },
  "deadline, too early": { type: "deadline", at: later(200) },
  "deadline, a minute before": { type: "deadline", at: later(240) },
  "deadline, passed": { type: "deadline", at: later(300) },
  "payment.captured": { type: "payment.captured", payment: payment(1000), idsFree: true, at },
  "payment.captured, too little": { type: "payment.captured", payment: payment(999), idsFree: true, at },
  "payment.captured, ids gone": { type: "payment.captured", payment: payment(1000), idsFree: false, at },
  "payment.declined": { type: "payment.declined", reason: "no", at },
  refund: { type: "refund", refunds: [refund(1)], at },
  "refund.taken_on": { type: "refund.taken_on", refundId: "r1", at },
  "refund.made": { type: "refund.made", refundId: "r1", at },
  "refund.failed": { type: "refund.failed", refundId: "r1", reason: "refused", at },
  "refund.returned": { type: "refund.returned", refundId: "r1", at },
  activate: { type: "activate", items: free, checkout, code: { codeId: "code-1", count: 1 }, at },
  delivered: { type: "delivered", lootboxId: "box", at },
}

const start = initialTransition(orderMachine, { id: "order-1", userId: "user-1", createdAt: at })[0]
const step = (from: typeof start, event: OrderEvent) => transition(orderMachine, from, event)
const turns = makeTransition(orderMachine)
const draft = step(start, { type: "add", items, at })[0]
const pending = step(draft, events["checkout.payment"]!)[0]
const states = {
  Draft: draft,
  PendingPayment: pending,
  Cancelled: step(pending, events["deadline, passed"]!)[0],
  Paid: step(pending, events["payment.captured"]!)[0],
}

type State = keyof typeof states
/** The target state for each state and event. The machine refuses every combination that is not listed. */
const table: Record<State, Partial<Record<string, State>>> = {
  Draft: {
    add: "Draft",
    remove: "Draft",
    clear: "Draft",
    "checkout.payment": "PendingPayment",
    "checkout.free": "Paid",
    "checkout.cash": "Paid",
    "checkout.cash, too little": "Draft",
    "payment.captured": "Draft",
    "payment.captured, too little": "Draft",
    "payment.captured, ids gone": "Draft",
  },
  PendingPayment: {
    "checkout.free": "Paid",
    "checkout.cash": "Paid",
    "checkout.cash, too little": "PendingPayment",
    promo_code: "PendingPayment",
    "intent.made": "PendingPayment",
    convert_to_draft: "Draft",
    cancel: "Cancelled",
    "deadline, a minute before": "PendingPayment",
    "deadline, passed": "Cancelled",
    "payment.captured": "Paid",
    "payment.captured, too little": "PendingPayment",
    "payment.captured, ids gone": "Cancelled",
    "payment.declined": "PendingPayment",
  },
  Cancelled: {
    "payment.captured": "Paid",
    "payment.captured, too little": "Cancelled",
    "payment.captured, ids gone": "Cancelled",
  },
  Paid: {
    "payment.captured": "Paid",
    "payment.captured, too little": "Paid",
    "payment.captured, ids gone": "Paid",
    refund: "Paid",
  },
}

const cases = (Object.keys(states) as ReadonlyArray<State>).flatMap((from) =>
  Object.keys(events).map((event) => [from, event, table[from][event]] as const),
)

describe("the order machine", () => {
  it.each(cases)(
    'goes from `%s` with the event "%s" to `%s` (`undefined`: refuses the event)',
    (from, event, to) => {
      const snapshot = states[from]
      expect(snapshot.can(events[event]!)).toBe(to !== undefined)
      // `makeTransition`, which the actors use, must give the same result as XState.
      expect(turns.next(snapshot, events[event]!)?.[0].value).toBe(to)
      if (to !== undefined) expect(step(snapshot, events[event]!)[0].value).toBe(to)
    },
  )

  it("keeps a `Paid` order `Paid` after every event", () => {
    for (const event of Object.values(events)) expect(step(states.Paid, event)[0].value).toBe("Paid")
  })
})

const effects = (from: typeof start, event: OrderEvent) => {
  const [, actions] = step(from, event)
  const found: Record<string, Array<unknown>> = {}
  for (const { params, type } of actions as ReadonlyArray<{ type: string; params: unknown }>)
    if (Array.isArray(params)) found[type] = [...(found[type] ?? []), ...params]
  return found
}
const sum = (lines: ReadonlyArray<unknown> = []) =>
  lines.reduce<number>((total, line) => total + (line as { cents: number }).cents, 0)

describe("in the order machine,", () => {
  it("a checkout claims every id for the order", () => {
    expect(effects(draft, events["checkout.payment"]!)["claims"]).toEqual(
      ["🚀🚀", "🐙🐙"].map((canonical) => ({ canonical, kind: "order", holder: "order-1" })),
    )
  })

  it.each(["convert_to_draft", "cancel", "deadline, passed"])('the event "%s" releases every id', (event) => {
    expect(effects(pending, events[event]!)["releases"]).toEqual(["🚀🚀", "🐙🐙"])
  })

  it("a payment transfers the claims to the buyer, grants the ids, books the sale and mails the receipt", () => {
    const found = effects(pending, events["payment.captured"]!)
    expect(found["claims"]).toEqual(
      ["🚀🚀", "🐙🐙"].map((canonical) => ({
        canonical,
        kind: "owned",
        holder: "user-1",
        owner_id: "user-1",
        from_holder: "order-1",
      })),
    )
    expect(found["grants"]).toMatchObject([{ canonical: "🚀🚀", pubkey: "key" }, { canonical: "🐙🐙" }])
    expect(found["mail"]).toMatchObject([{ to: "a@b.c", kind: "order_receipt" }])
    expect(found["ledger"]).toEqual([
      { account: "funds:sandbox", cents: 1000, reference: "sandbox:p1" },
      { account: "sales", cents: -1000, reference: "sandbox:p1" },
    ])
  })

  it("a payment after the expiry claims the ids again if they are free, and otherwise is booked as `held`", () => {
    expect(effects(states.Cancelled, events["payment.captured"]!)["claims"]).toHaveLength(2)
    const gone = effects(states.Cancelled, events["payment.captured, ids gone"]!)
    expect(gone["claims"]).toBeUndefined()
    expect(gone["ledger"]).toEqual([
      { account: "funds:sandbox", cents: 1000, reference: "sandbox:p1" },
      { account: "held", cents: -1000, reference: "sandbox:p1" },
    ])
  })

  it("the use of a code is no longer counted after the order expires, and is counted again if the order is paid later", () => {
    const discounted = step(pending, events["promo_code"]!)[0]
    expect(effects(discounted, events["deadline, passed"]!)["uses"]).toMatchObject([{ count: -1 }])
    const cancelled = step(discounted, events["deadline, passed"]!)[0]
    expect(effects(cancelled, events["payment.captured"]!)["uses"]).toMatchObject([{ count: 1 }])
    const drafted = step(discounted, events["convert_to_draft"]!)[0]
    expect(drafted.context.items).toHaveLength(2)
    expect(drafted.context.codes).toEqual([])
  })

  it("the deadline one minute before the expiry is accepted only once, and the order can still expire afterwards", () => {
    const [warned] = step(pending, events["deadline, a minute before"]!)
    expect(warned.can(events["deadline, a minute before"]!)).toBe(false)
    expect(warned.can(events["deadline, passed"]!)).toBe(true)
  })
})

describe("the ledger lines of an order", () => {
  it("sum to zero for every event in every state", () => {
    for (const from of Object.values(states)) {
      for (const event of Object.values(events)) {
        if (from.can(event)) expect(sum(effects(from, event)["ledger"])).toBe(0)
      }
    }
  })

  it("match its payments and refunds after random events", () => {
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed % below
    }
    for (let run = 0; run < 60; run++) {
      let now = step(start, { type: "add", items, at })[0]
      const books = new Map<string, number>()
      for (let n = 0; n < 25; n++) {
        const left = refundableCents(now.context)
        const choices: ReadonlyArray<OrderEvent> = [
          events["checkout.payment"]!,
          events["convert_to_draft"]!,
          events["deadline, passed"]!,
          {
            type: "payment.captured",
            payment: payment(1 + random(900), `sandbox:${n}`),
            idsFree: random(2) === 0,
            at,
          },
          { type: "checkout.cash", items, checkout, payment: payment(1 + random(900), `cash:${n}`), at },
          {
            type: "refund",
            refunds: [
              refund(1 + random(Math.max(1, left)), {
                id: `r${n}`,
                ofSale: now.context.paidAt !== undefined,
                itemIds: random(2) === 0 ? [items[0]!.id] : [],
              }),
            ],
            at,
          },
          { type: "refund.made", refundId: `r${n - 1}`, at },
          { type: "refund.failed", refundId: `r${n - 1}`, reason: "refused", at },
          { type: "refund.returned", refundId: `r${n - 2}`, at },
        ]
        const event = choices[random(choices.length)]!
        if (!now.can(event)) continue
        for (const line of effects(now, event)["ledger"] ?? []) {
          const { account, cents } = line as { account: string; cents: number }
          books.set(account, (books.get(account) ?? 0) + cents)
        }
        now = step(now, event)[0]
        expect(refundableCents(now.context)).toBeGreaterThanOrEqual(0)
        expect(overpaidCents(now.context)).toBeGreaterThanOrEqual(0)
      }
      const nothing: OrderContext = { ...now.context, payments: [], refunds: [], items: [] }
      const expected = new Map(
        journal(nothing, now.context, "x").map(({ account, cents }) => [account, cents]),
      )
      for (const [account, cents] of books)
        expect([account, cents]).toEqual([account, expected.get(account) ?? 0])
      expect([...books.values()].reduce((a, b) => a + b, 0)).toBe(0)
    }
  })
})
