import { beforeAll, expect, it } from "vitest"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { codeFor, grant, makeIds, ownerOf } from "../transfers/transfer-service.ts"

const account = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
const nextId = makeIds()
let service: TestService
let sender: TestUser
let recipient: TestUser
let admin: TestUser

beforeAll(async () => {
  service = await serve({ SWEEP_INTERVAL_MS: "60000" }, { peersPossible: true })
  ;[sender, recipient, admin] = await Promise.all([
    service.user(),
    service.user(),
    service.user({ role: "Admin" }),
  ])
})

const owned = async () => {
  const eid = nextId()
  await grant(service, sender, eid)
  return eid
}
const permit = (eid: string) =>
  service.call("POST", `/emoji_id/${encodeURIComponent(eid)}/generate_signature`, {
    token: sender.token,
    body: { account },
  })
const send = (eid: string, { forced = false } = {}) =>
  service.call("POST", "/transfers", {
    token: (forced ? admin : sender).token,
    body: { eid, email: recipient.email, force_transfer: forced },
  })
const act = (id: string, action: string, user: TestUser, code: string) =>
  service.call("POST", `/transfers/${id}/${action}`, { token: user.token, body: { code } })
const permissionEnds = (eid: string) =>
  service.sql`update emoji_id set mint_until = now() where canonical = ${eid}`

it("an id with a mint permission cannot be transferred until the permission expires", async () => {
  const eid = await owned()
  const { expiry } = (await permit(eid)).body
  const refused = await send(eid)
  expect(refused.status).toBe(409)
  expect(Date.parse(refused.body.mint_until)).toBeGreaterThanOrEqual(expiry * 1000)
  await permissionEnds(eid)
  expect((await send(eid)).status).toBe(200)
})

it("a second mint permission that expires earlier does not shorten the first mint permission", async () => {
  const eid = await owned()
  const { expiry } = (await permit(eid)).body
  const shorter = await service.call("POST", `/emoji_id/${encodeURIComponent(eid)}/generate_signature`, {
    token: sender.token,
    body: { account, expiry: expiry - 1800 },
  })
  expect(shorter.status).toBe(200)
  expect(Date.parse((await send(eid)).body.mint_until)).toBeGreaterThanOrEqual(expiry * 1000)
})

it("a forced transfer cannot be accepted while a mint permission is valid; its code stays usable", async () => {
  const eid = await owned()
  await permit(eid)
  const { id } = (await send(eid, { forced: true })).body
  const code = await codeFor(service, recipient.email)
  const early = await act(id, "receiver_accept", recipient, code)
  expect([early.status, early.body.mint_until]).toEqual([409, expect.any(String)])
  expect(await ownerOf(service, eid)).toBe(sender.id)
  await permissionEnds(eid)
  expect((await act(id, "receiver_accept", recipient, code)).status).toBe(200)
  expect(await ownerOf(service, eid)).toBe(recipient.id)
})

it("if a mint permission is granted and a transfer is created at the same time, the transfer cannot be accepted", async () => {
  for (let round = 0; round < 20; round++) {
    const eid = await owned()
    const [permitted, sent] = await Promise.all([permit(eid), send(eid)])
    expect([permitted.status, sent.status]).toContain(200)
    if (permitted.status !== 200 || sent.status !== 200) continue
    const confirmed = await act(sent.body.id, "sender_accept", sender, await codeFor(service, sender.email))
    expect(confirmed.status).toBe(200)
    const code = await codeFor(service, recipient.email)
    expect((await act(sent.body.id, "receiver_accept", recipient, code)).status).toBe(409)
    expect(await ownerOf(service, eid)).toBe(sender.id)
  }
})

it("an id with a mint permission cannot be removed from the directory until the permission expires", async () => {
  const eid = await owned()
  const { expiry } = (await permit(eid)).body
  const destroy = () =>
    service.call("DELETE", `/emoji_id/${encodeURIComponent(eid)}`, { token: admin.token, rawBody: "null" })
  const refused = await destroy()
  expect(refused.status).toBe(409)
  expect(Date.parse(refused.body.mint_until)).toBeGreaterThanOrEqual(expiry * 1000)
  expect(await ownerOf(service, eid)).toBe(sender.id)
  await permissionEnds(eid)
  expect((await destroy()).status).toBe(200)
})

it("if an id is removed while its mint permission is requested, exactly one request succeeds", async () => {
  for (let round = 0; round < 20; round++) {
    const eid = await owned()
    const [permitted, destroyed] = await Promise.all([
      permit(eid),
      service.call("DELETE", `/emoji_id/${encodeURIComponent(eid)}`, { token: admin.token, rawBody: "null" }),
    ])
    expect([
      [200, 409],
      [404, 200],
    ]).toContainEqual([permitted.status, destroyed.status])
  }
})
