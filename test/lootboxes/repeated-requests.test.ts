import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"
import { makeIds } from "../transfers/transfer-service.ts"

// `peersPossible` makes the service read the database instead of its memory. The tests simulate a killed process, whose
// memory is lost.
const service = await serve({}, { peersPossible: true })
const admin = await service.user({ role: "Admin" })
const freshId = makeIds(150_000)

const post = (path: string, body: unknown, key: string) =>
  service.call("POST", path, { token: admin.token, body, headers: { "idempotency-key": key } })

/**
 * Changes a stored key as if the process had been killed before it stored the response, and as if the lease had
 * expired.
 */
const loseAnswer = (key: string) =>
  service.sql`update idempotency_key set status = null, answer = null, leased_until = now() - interval '1 second'
               where key = ${key}`

const countBoxes = async () => {
  const [row] = await service.sql<[{ boxes: number }]>`
    select count(*)::int as boxes from entity where kind = 'lootbox'`
  return row.boxes
}

const config = {
  size: 2,
  min_length: 4,
  max_length: 5,
  min_base_score: 1,
  max_base_score: 100,
  guarantees: [],
  weights: [],
}

it("a repeated generation request creates only the lootboxes that the interrupted request did not create", async () => {
  const type = await post("/lootbox_type", { name: "cut off", description: "", config }, randomUUID())
  const wish = { loot_box_type_id: type.body.id, num_boxes: 4 }
  const key = randomUUID()
  const before = await countBoxes()
  const first = await post("/lootbox_type/generate", wish, key)
  expect(first.status).toBe(200)
  // Deletes the fourth lootbox, as if the process had been killed after the third one.
  const last = first.body.loot_boxes[3].id
  await service.sql`with gone as (delete from entity where kind = 'lootbox' and id = ${last})
                    delete from claim where holder = ${last}`
  await loseAnswer(key)
  const again = await post("/lootbox_type/generate", wish, key)
  const idsOf = ({ body }: typeof first) => body.loot_boxes.map(({ id }: { id: string }) => id)
  expect(again.status).toBe(200)
  expect(idsOf(again).slice(0, 3)).toEqual(idsOf(first).slice(0, 3))
  expect(again.body.loot_boxes).toHaveLength(4)
  expect((await countBoxes()) - before).toBe(4)
})

it("a repeated creation request returns the same lootbox, although its ids are already taken", async () => {
  const owner = await service.user({})
  const wish = { status: "Used", yats: [freshId()], owner_id: owner.id }
  const key = randomUUID()
  const first = await post("/lootboxes", wish, key)
  expect(first.status).toBe(200)
  await loseAnswer(key)
  const again = await post("/lootboxes", wish, key)
  expect({ status: again.status, id: again.body.id }).toEqual({ status: 200, id: first.body.id })
})

it("a request that reuses an Idempotency-Key after 24 hours creates another lootbox", async () => {
  const wish = { status: "Draft", yats: [] }
  const key = randomUUID()
  const first = await post("/lootboxes", wish, key)
  await service.sql`update entity set version = version + 1,
                           state = jsonb_set(state, '{context,createdAt}', '"2020-01-01T00:00:00.000Z"')
                     where kind = 'lootbox' and id = ${first.body.id}`
  await loseAnswer(key)
  const again = await post("/lootboxes", wish, key)
  expect(again.status).toBe(200)
  expect(again.body.id).not.toBe(first.body.id)
})
