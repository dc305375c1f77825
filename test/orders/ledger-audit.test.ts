import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
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

/** Runs a complete audit with `batch` orders per part. Returns the difference that each part found, in cents. */
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

it("the audit runs in parts, and finds no difference in a correct ledger", async () => {
  expect(await auditParts(3)).toEqual([0, 0, 0])
  expect(await auditParts(7)).toEqual([0, 0])
  expect(await auditParts(1000)).toEqual([0])
})

it("the audit finds an order whose amount differs from the booked amount, and a booking without an order", async () => {
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

/**
 * Starts a new process and reads its metrics: the difference, and whether the last complete audit is less than a
 * minute old.
 */
const scrape = async ({ database }: TestService) => {
  const process = await serve({}, { database })
  const { text } = await process.call("GET", "/metrics")
  await process.stop()
  const read = (name: string) => new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1]
  return [read("ledger_imbalance_cents"), Number(read("ledger_audit_age_seconds")) < 60]
}
const makeDue = ({ sql }: TestService) => sql`update audit_round set continued_at = '-infinity'`

it("the metrics of every new process show the difference that the last complete audit found", async () => {
  expect(await scrape(service)).toEqual(["0", true])
  await makeDue(service)
  expect(await scrape(service)).toEqual(["75", true])
  expect(await scrape(service)).toEqual(["75", true])
})

describe("an audit of many orders", () => {
  let large: TestService
  beforeAll(async () => {
    large = await serve()
    await large.sql`insert into entity (kind, id, version, turn, status, state)
      select 'order', gen_random_uuid(), 1, gen_random_uuid(), 'Draft',
             '{"value": "Draft", "context": {"payments": [], "refunds": []}}' from generate_series(1, 4500)`
    const last = "ffffffff-ffff-4fff-bfff-ffffffffffff"
    await large.sql`select put_ledger(${JSON.stringify([
      { order_id: last, account: "funds:sandbox", cents: 70, reference: "lost" },
      { order_id: last, account: "sales", cents: -70, reference: "lost" },
    ])}::text::jsonb)`
  })

  it("continues where the previous process stopped, and the metrics show its result only after it is complete", async () => {
    const said: Array<unknown> = []
    for (let starts = 0; starts < 4; starts++) {
      await makeDue(large)
      said.push(await scrape(large))
    }
    expect(said).toEqual([
      ["0", false],
      ["0", false],
      ["70", true],
      ["70", true],
    ])
  })

  it("runs only one part when eight concurrent calls request the next part", async () => {
    await large.sql`update audit_round set after = null, continued_at = '-infinity'`
    await Promise.all(
      Array.from({ length: 8 }, () => large.sql`select continue_audit(1000, make_interval(secs => 15))`),
    )
    const [row] = await large.sql`
      select count(*)::int as passed from entity, audit_round where kind = 'order' and id <= after`
    expect(row?.["passed"]).toBe(1000)
  })
})
