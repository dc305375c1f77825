import { expect, it } from "vitest"
import { liveSocket } from "../fixtures/live-client.ts"
import { serve, type TestUser } from "../fixtures/service.ts"
import { grant, makeIds } from "../transfers/transfer-service.ts"

const service = await serve()
const admin = await service.user({ role: "Admin" })
const nextId = makeIds(140_000)

const send = async (sender: TestUser, recipient: TestUser): Promise<string> => {
  const eid = nextId()
  await grant(service, sender, eid)
  const { body } = await service.call("POST", "/transfers", {
    token: sender.token,
    body: { eid, email: recipient.email, clear_on_transfer: false, force_transfer: false },
  })
  return body.id
}

/** Reads a list twice: with one request, and in pages of two items. */
const read = async (path: string, { token }: TestUser) => {
  const whole = await service.call("GET", path, { token })
  const pieces: Array<ReadonlyArray<unknown>> = []
  do pieces.push((await service.call("GET", `${path}?limit=2&page=${pieces.length}`, { token })).body)
  while (pieces.at(-1)!.length === 2 && pieces.length < 4)
  return { whole: whole.body, pieces }
}
const expectPieces = async (path: string, user: TestUser) => {
  const { pieces, whole } = await read(path, user)
  expect(whole).toHaveLength(3)
  expect(pieces).toEqual([whole.slice(0, 2), whole.slice(2)])
}

it("the list of incoming transfers is paginated", async () => {
  const [sender, recipient] = [await service.user(), await service.user()]
  for (let n = 0; n < 3; n++) await send(sender, recipient)
  await expectPieces("/transfers/incoming", recipient)
})

it("the lists of an organization's members and pubkeys, of OAuth clients and of lootbox types are paginated", async () => {
  const { token } = admin
  const { body } = await service.call("POST", "/organizations", { token, body: { name: "Acme" } })
  const ofAcme = `/organizations/${body.id}`
  const config = { size: 1, min_length: 5, max_length: 5, min_base_score: 1, max_base_score: 100 }
  for (let n = 0; n < 3; n++) {
    const member = await service.user()
    await service.call("PUT", `${ofAcme}/members/${member.id}`, { token, body: { role: "OrgMember" } })
    const key = await service.call("POST", "/pubkeys", { token: member.token })
    await service.call("PUT", `${ofAcme}/pubkeys/${key.body}`, { token })
    const redirect_uris = [`https://app-${n}.example/callback`]
    await service.call("POST", "/oauth_clients", { token, body: { name: "App", redirect_uris } })
    await service.call("POST", "/lootbox_type", {
      token,
      body: { name: `Type ${n}`, description: "", config: { ...config, guarantees: [], weights: [] } },
    })
  }
  await expectPieces(`${ofAcme}/members`, admin)
  await expectPieces(`${ofAcme}/pubkeys`, admin)
  await expectPieces("/oauth_clients", admin)
  await expectPieces("/lootbox_type", admin)
})

it("the list of payment methods is paginated", async () => {
  const buyer = await service.user()
  await service.sql`insert into payment_method (id, user_id, provider, payment_type, is_default, created_at)
                    select 'pm_' || n, ${buyer.id}, 'stripe', 'card', n = 2, now() from generate_series(1, 3) n`
  await expectPieces("/payment_methods", buyer)
})

it("the live channel `transfers` contains an open transfer that is older than 200 ended transfers", async () => {
  const [sender, recipient] = [await service.user(), await service.user()]
  const open = await send(sender, recipient)
  await service.sql`
    insert into entity (kind, id, version, turn, status, state, owner_id, peer_id, subject, created_at)
    select kind, gen_random_uuid(), 1, gen_random_uuid(), 'Deleted', jsonb_set(state, '{value}', '"Deleted"'), owner_id, peer_id,
           subject, created_at + interval '1 second' * n
      from entity, generate_series(1, 200) n where kind = 'transfer' and id = ${open}`
  const client = await liveSocket(service.url)()
  client.send({ type: "connect", token: sender.token })
  client.send({ type: "subscribe", channel: "transfers" })
  const { state } = await client.take({ type: "subscribed" })
  expect(state.outgoing).toMatchObject([{ id: open }])
  client.close()
})
