import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { PartnerVisits } from "../../src/partners/visits.ts"
import { serve } from "../fixtures/service.ts"

it("a partner visit that cannot be decrypted is left out of the list of visits with unwritten addresses", async () => {
  const service = await serve()
  const { runtime, sql } = service
  const { id: owner } = await service.user()
  const [organization] = await sql`insert into organization (name) values ('Wallet') returning id`
  const organizationId: string = organization!["id"]
  const paidOrder = async () => {
    const id = randomUUID()
    await sql`insert into entity (kind, id, version, turn, status, state, owner_id, updated_at)
              values ('order', ${id}, 1, ${randomUUID()}, 'Paid', '{}', ${owner}, now() - interval '1 minute')`
    return id
  }
  const visits = await runtime.runPromise(PartnerVisits)
  const visit = async (orderId: string) => {
    const token = await runtime.runPromise(visits.create(organizationId, "get", { addresses: [] }, undefined))
    await runtime.runPromise(visits.linkOrder(token, orderId))
  }
  const [lost, kept] = [await paidOrder(), await paidOrder()]
  await visit(lost)
  await visit(kept)
  await sql`update partner_visit set sealed_state = 'sealed with another key' where order_id = ${lost}`
  const unwritten = await runtime.runPromise(visits.listUnwritten)
  expect(unwritten.map(({ orderId }) => orderId)).toEqual([kept])
  expect(await runtime.runPromise(visits.listPendingAddresses(lost, organizationId))).toEqual([])
})
