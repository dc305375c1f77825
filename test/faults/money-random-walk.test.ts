import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { Deadlines } from "../../actors/deadlines.ts"
import { Sandbox } from "../../src/orders/payments/sandbox.ts"
import { type Answer, serve, type TestService } from "../fixtures/service.ts"
import { type Luck, takeWalk, walkSeed } from "../fixtures/walk.ts"
import { expectInvariants } from "../orders/oracle.ts"
import { atSandbox, card, crypto, freshIds, newShopper, until } from "../orders/shopper.ts"

const rounds = 20
const actorsAtOnce = 8

const ids = freshIds(120)
let nodes: ReadonlyArray<TestService>
let admin: Awaited<ReturnType<typeof newShopper>>
let buyers: ReadonlyArray<Awaited<ReturnType<typeof newShopper>>>
let codes: ReadonlyArray<string>
const log: Array<string> = []

const newCode = async (facts: Record<string, unknown>) => {
  const redemption_code = `WALK-${randomUUID().slice(0, 8)}`
  const body = { name: "walk", code_type: "Discount", redemption_code, ...facts }
  expect((await admin.call("POST", "/codes", body)).status).toBe(200)
  return redemption_code
}

const begin = async (processes: number) => {
  const environment = { SWEEP_INTERVAL_MS: "60000", CART_TTL_SECONDS: "300" }
  const peersPossible = processes > 1
  const first = await serve(environment, { peersPossible })
  const { database } = first
  const others = Array.from({ length: processes - 1 }, () => serve(environment, { database, peersPossible }))
  nodes = [first, ...(await Promise.all(others))]
  admin = await newShopper(first, { role: "Admin" })
  buyers = await Promise.all(Array.from({ length: 6 }, () => newShopper(first, { freeLimit: 2 })))
  codes = [
    await newCode({ discount_as_percentage: 25, max_uses: 3 }),
    await newCode({ discount_as_percentage: 100, max_uses: 2 }),
  ]
  log.length = 0
}

type Caller = Pick<typeof admin, "token">
const send = async (
  luck: Luck,
  who: Caller,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> => {
  const key = luck.chance(0.2) ? { headers: { "idempotency-key": randomUUID() } } : {}
  const ask = () =>
    luck
      .pick(nodes)!
      .call(method, path, { token: who.token, ...key, ...(body === undefined ? {} : { body }) })
  // In some cases the same request is sent twice concurrently.
  const [answer] = luck.chance(0.15) ? await Promise.all([ask(), ask()]) : [await ask()]
  log.push(
    `${method} ${path} ${JSON.stringify(body) ?? ""} -> ${answer!.status} ${answer!.body?.error ?? ""}`,
  )
  return answer!
}
const orders = (statuses: ReadonlyArray<string>) =>
  nodes[0]!.sql<{ id: string; owner_id: string; session: string | null }[]>`
    select id, owner_id, state->'context'->'intent'->>'sessionId' as session from entity
     where kind = 'order' and status = any(${[...statuses]}) order by created_at, id`

/** Picks a buyer, usually one with a pending order, because most steps are refused for other buyers. */
const pickBuyer = async (luck: Luck) => {
  const owner = luck.pick(await orders(["PendingPayment"]))?.owner_id
  return (luck.chance(0.8) ? buyers.find(({ id }) => id === owner) : undefined) ?? luck.pick(buyers)!
}
const shop = async (luck: Luck) => {
  const buyer = luck.pick(buyers)!
  const wanted = [...new Set([luck.pick(ids), luck.pick(ids)])]
  await send(luck, buyer, "POST", "/cart", { items: wanted.map((emoji_id) => ({ emoji_id })) })
  if (luck.chance(0.9))
    await send(luck, buyer, "POST", "/cart/checkout", luck.pick([card, crypto, crypto, { method: "Free" }]))
}
const discount = async (luck: Luck) =>
  send(luck, await pickBuyer(luck), "POST", "/cart/promo_code", { code: luck.pick(codes) })
const convertToDraft = async (luck: Luck) =>
  send(luck, await pickBuyer(luck), "POST", "/cart/convert_to_draft")
const cancelCart = async (luck: Luck) => send(luck, await pickBuyer(luck), "DELETE", "/cart")

/**
 * Pays a checkout that is usually pending and sometimes has ended. The payment is usually the due amount, sometimes less
 * or more, and is sometimes declined.
 */
const pay = async (luck: Luck) => {
  const sessions = await nodes[0]!.sql<
    { session_id: string }[]
  >`select session_id from sandbox_intent order by id`
  const pending = (await orders(["PendingPayment"])).flatMap(({ session }) => session ?? [])
  const session = luck.chance(0.8) ? luck.pick(pending) : luck.pick(sessions)?.session_id
  if (session === undefined) return
  const action = luck.pick(["pay", "pay", "pay", "underpay", "overpay", "decline"])!
  const { status } = await atSandbox(luck.pick(nodes)!, session, action)
  log.push(`${action} ${session} -> ${status} `)
}
/** Sends an earlier webhook of the provider again. */
const repeatWebhook = async (luck: Luck) => {
  const [node] = nodes
  const webhooks = await node!.sql<{ payload: string }[]>`select payload from sandbox_webhook order by id`
  const payload = luck.pick(webhooks)?.payload
  if (payload === undefined) return
  const signature = await node!.runtime.runPromise(
    Effect.map(Sandbox, (sandbox) => sandbox.sign(Buffer.from(payload))),
  )
  const headers = { "content-type": "application/json", "sandbox-signature": signature }
  const { status } = await luck.pick(nodes)!.call("POST", "/webhooks/sandbox", { rawBody: payload, headers })
  log.push(`webhook again -> ${status} `)
}
const refund = async (luck: Luck) => {
  const order = luck.pick(await orders(["Paid", "Cancelled"]))
  if (order === undefined) return
  await send(luck, admin, "POST", `/orders/${order.id}/refund`, luck.chance(0.5) ? {} : { amount: 1 })
}
const payInCash = async (luck: Luck) => {
  const order = luck.pick(await orders(["PendingPayment"]))
  if (order !== undefined) await send(luck, admin, "POST", `/cart/checkout/${order.id}`, { method: "Cash" })
}
const expire = async (luck: Luck) => {
  const order = luck.pick(await orders(["PendingPayment"]))
  if (order === undefined) return
  await nodes[0]!.sql`
    update entity set due_at = now(), version = version + 1,
           state = jsonb_set(state, '{context,checkout,expiresAt}', to_jsonb(wire_time(now())))
     where kind = 'order' and id = ${order.id} and status = 'PendingPayment'`
  const sweep = Effect.flatMap(Deadlines, (deadlines) => deadlines.sweep)
  await luck.pick(nodes)!.runtime.runPromise(sweep)
}

const steps = [shop, shop, shop, shop, shop, pay, pay, pay, pay, pay]
const rarer = [discount, convertToDraft, cancelCart, repeatWebhook, refund, payInCash, expire]

const untilWebhooksDelivered = () =>
  until(
    async () => (await nodes[0]!.sql`select 1 from sandbox_webhook where delivered_at is null`).length,
    (waiting) => waiting === 0,
  )
/** Finds captured payments that the ledger does not contain exactly once with the same amount. */
const unbooked = () => nodes[0]!.sql`
  select p.id from sandbox_payment p
   where p.outcome = 'captured' and 1 <> (
     select count(*) from journal j join ledger_line l on l.journal_id = j.id
      where j.reference = 'sandbox:' || p.id and l.account = 'funds:sandbox' and l.cents = p.cents)`

describe.each([
  { where: "two processes", processes: 2 },
  { where: "one process", processes: 1 },
])(`random orders and payments in $where (WALK_SEED=${walkSeed})`, ({ processes }) => {
  beforeAll(() => begin(processes))

  it("lose no id and no cent when buyers pay, pay wrong amounts, pay late and get refunds", async () => {
    const check = async () => {
      expect(await untilWebhooksDelivered()).toBe(0)
      await expectInvariants(nodes[0]!.sql)
      expect(await unbooked()).toEqual([])
    }
    await takeWalk({ rounds, actorsAtOnce, steps: [...steps, ...rarer], check, log })
    expect(log.filter((line) => / -> 5\d\d /.test(line))).toEqual([])
    // If no order was paid, the test would prove nothing.
    expect((await orders(["Paid"])).length).toBeGreaterThan(2)
  })
})
