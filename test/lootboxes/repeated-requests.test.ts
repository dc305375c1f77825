import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"
import { losingAnswers } from "../http/keyed-routes/keyed-request.ts"
import { makeIds } from "../transfers/transfer-service.ts"

// `peersPossible` makes the service read the database instead of its memory. The tests simulate a killed process, whose
// memory is lost.
const service = await serve({}, { peersPossible: true })
const admin = await service.user({ role: "Admin" })
const freshId = makeIds(150_000)

const post = (path: string, body: unknown, key: string) =>
  service.call("POST", path, { token: admin.token, body, headers: { "idempotency-key": key } })

const config = {
  size: 2,
  min_length: 4,
  max_length: 5,
  min_base_score: 1,
  max_base_score: 100,
  guarantees: [],
  weights: [],
}
const newType = async () =>
  (await post("/lootbox_type", { name: "starter", description: "", config }, randomUUID())).body.id as string
const boxesOf = async (type: string) =>
  (await service.sql`select id from entity where kind = 'lootbox' and subject = ${type}`).length

it("a generation request that the database rejects at its fourth lootbox creates no lootbox", async () => {
  const type = await newType()
  const wish = { loot_box_type_id: type, num_boxes: 6 }
  await service.sql.unsafe(`
    create function stop_at_four() returns trigger language plpgsql as $$ begin
      if new.subject = '${type}' and (select count(*) from entity where subject = '${type}') >= 3 then
        raise exception using errcode = '57014', message = 'stopped'; end if;
      return new; end $$;
    create trigger stop_at_four before insert on entity for each row execute function stop_at_four()`)
  const key = randomUUID()
  expect((await post("/lootbox_type/generate", wish, key)).status).toBe(503)
  expect(await boxesOf(type)).toBe(0)
  expect(
    await service.sql`select 1 from claim c where kind = 'lootbox'
                            and not exists (select 1 from entity e where e.id = c.holder)`,
  ).toHaveLength(0)
  await service.sql.unsafe("drop trigger stop_at_four on entity")
  expect((await post("/lootbox_type/generate", wish, key)).body.loot_boxes).toHaveLength(6)
  expect(await boxesOf(type)).toBe(6)
})

it("a repeated generation request returns the same lootboxes in the same order", async () => {
  const type = await newType()
  const wish = { loot_box_type_id: type, num_boxes: 5 }
  const key = randomUUID()
  const first = await losingAnswers(service, () => post("/lootbox_type/generate", wish, key))
  const again = await post("/lootbox_type/generate", wish, key)
  expect([again.status, again.body]).toEqual([200, first.body])
  expect(await boxesOf(type)).toBe(5)
})

it("a repeated creation request returns the same lootbox, although its ids are already taken", async () => {
  const owner = await service.user({})
  const wish = { status: "Used", yats: [freshId()], owner_id: owner.id }
  const key = randomUUID()
  const first = await losingAnswers(service, () => post("/lootboxes", wish, key))
  expect(first.status).toBe(200)
  const again = await post("/lootboxes", wish, key)
  expect({ status: again.status, id: again.body.id }).toEqual({ status: 200, id: first.body.id })
})
