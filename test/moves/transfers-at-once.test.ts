import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { migrate } from "../../src/store/migrate.ts"
import { serve } from "../fixtures/service.ts"
import { claimOf, codeFor, grant, makeIds, ownerOf } from "./moves.ts"

const service = await serve({ SWEEP_INTERVAL_MS: "60000" }, { peersPossible: true })
const [sender, recipient] = await Promise.all([service.user(), service.user()])
const nextId = makeIds(87_000)

it("of two transfers that a version before let begin of one id, the one without it is over after the migration", async () => {
  const eid = nextId()
  await grant(service, sender, eid)
  const body = { eid, email: recipient.email }
  const { body: real } = await service.call("POST", "/transfers", { token: sender.token, body })
  const other = randomUUID()
  await service.sql`
    insert into entity (kind, id, version, turn, status, state, owner_id, peer_id, subject, due_at)
    select kind, ${other}, version, gen_random_uuid(), status, jsonb_set(state, '{context,id}', to_jsonb(${other}::text)),
           owner_id, peer_id, subject, due_at
      from entity where kind = 'transfer' and id = ${real.id}`
  await service.sql`delete from migration where name = '0037_sent_twice.sql'`
  await migrate(service.sql)

  const { body: listed } = await service.call("GET", "/transfers", { token: sender.token })
  const states = listed.data.map(({ id, status }: { id: string; status: string }) => [id, status])
  expect(new Map(states)).toEqual(
    new Map([
      [real.id, "AwaitingSender"],
      [other, "Deleted"],
    ]),
  )
  expect(listed.data.find(({ id }: { id: string }) => id === other).deleted_at).toEqual(expect.any(String))
  expect(await claimOf(service, eid)).toMatchObject({ kind: "transfer", holder: real.id })
  for (const [side, user] of [
    ["sender", sender],
    ["receiver", recipient],
  ] as const) {
    const code = await codeFor(service, user.email, real.id)
    await service.call("POST", `/transfers/${real.id}/${side}_accept`, { token: user.token, body: { code } })
  }
  expect(await ownerOf(service, eid)).toBe(recipient.id)
})
