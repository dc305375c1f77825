import { randomUUID } from "node:crypto"
import { beforeAll, expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { atSandbox, freshId, newShopper, until } from "./shopper.ts"

let service: TestService
let paid: ReadonlyArray<string>
beforeAll(async () => {
  service = await serve()
  paid = await Promise.all(
    Array.from({ length: 7 }, async () => {
      const buyer = await newShopper(service)
      await buyer.add(freshId())
      const { body } = await buyer.checkout()
      await atSandbox(service, body.payment_method_data.session_id, "pay")
      await until(
        () => buyer.order(body.id),
        (answer) => answer.body.status === "Paid",
      )
      return body.id as string
    }),
  )
})

/** Each part of an audit, so many orders at a time. */
const auditParts = async (batch: number) => {
  const parts: Array<number> = []
  let after: string | null = null
  do {
    const rows: ReadonlyArray<{ cents: number; until: string | null }> =
      await service.sql`select cents, until from ledger_audit(${after}::uuid, ${batch})`
    parts.push(rows[0]!.cents)
    after = rows[0]!.until
  } while (after !== null)
  return parts
}
const sum = (parts: ReadonlyArray<number>) => parts.reduce((total, cents) => total + cents, 0)
const wholeAudit = async () => (await service.sql`select ledger_audit() as cents`)[0]?.["cents"]

it("an audit in parts looks at every order, and finds nothing where all is well", async () => {
  expect(await auditParts(3)).toEqual([0, 0, 0])
  expect(await auditParts(7)).toEqual([0, 0])
  expect(await auditParts(1000)).toEqual([0])
})

it("it finds what the whole one finds: an order that tells another sum, and a booking to no order", async () => {
  const text = (await service.call("GET", "/metrics")).text
  expect(text).toMatch(/^ledger_imbalance_cents 0$/m)
  await service.sql`update entity set state = jsonb_set(state, '{context,payments,0,cents}',
      to_jsonb((state->'context'->'payments'->0->>'cents')::int + 5)) where id = ${paid[2]!}`
  const stranger = randomUUID()
  await service.sql`select put_ledger(${JSON.stringify([
    { order_id: stranger, account: "funds:sandbox", cents: 70, reference: "lost" },
    { order_id: stranger, account: "sales", cents: -70, reference: "lost" },
  ])}::text::jsonb)`
  expect(await wholeAudit()).toBe(75)
  for (const batch of [1, 2, 3, 1000]) expect(sum(await auditParts(batch))).toBe(75)
})

it("the metrics tell of it until a whole audit finds nothing", async () => {
  const other = await serve({}, { database: service.database })
  const text = (await other.call("GET", "/metrics")).text
  expect(text).toMatch(/^ledger_imbalance_cents 75$/m)
  expect(Number(/^ledger_audit_age_seconds (.+)$/m.exec(text)?.[1])).toBeLessThan(60)
})
