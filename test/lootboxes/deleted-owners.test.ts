import { expect, it } from "vitest"
import { serve, type TestUser } from "../fixtures/service.ts"
import { waiting } from "../fixtures/waiting.ts"
import { claimOf, codeFor, grant, makeIds, ownerOf } from "../transfers/transfer-service.ts"

const service = await serve()
const admin = await service.user({ role: "Admin" })
const nextId = makeIds(85_000)

it("a lootbox whose owner was deleted cannot be opened and keeps its ids", async () => {
  const owner = await service.user()
  const id = nextId()
  const { body: box } = await service.call("POST", "/lootboxes", {
    token: admin.token,
    body: { status: "Owned", yats: [id], owner_id: owner.id },
  })
  await service.call("DELETE", `/users/${owner.id}`, { token: admin.token })
  const opened = await service.call("PATCH", `/lootboxes/${box.id}`, {
    token: admin.token,
    body: { status: "Used" },
  })
  expect([opened.status, opened.body.fields?.owner_id[0].code]).toEqual([422, "unknown"])
  expect(await claimOf(service, id)).toMatchObject({ kind: "lootbox", holder: box.id })
})

it("an id is not registered for a user who is deleted during the request", async () => {
  const owner = await service.user()
  const id = nextId()
  let given: ReturnType<typeof service.call> | undefined
  await service.sql.begin(async (sql) => {
    await sql`select delete_user(${owner.id}, true, array['User'])`
    const body = { emoji_id: id, user_id: owner.id }
    given = service.call("POST", "/emoji_id", { token: admin.token, body })
    await expect.poll(() => waiting(service)).toHaveLength(1)
  })
  const answer = await given
  expect([answer?.status, answer?.body.fields?.user_id[0].code]).toEqual([422, "unknown"])
  expect(await claimOf(service, id)).toBeUndefined()
})

it("a transferred id does not move to a recipient who is deleted during the acceptance", async () => {
  const [sender, recipient] = await Promise.all([service.user(), service.user()])
  const eid = nextId()
  await grant(service, sender, eid)
  const { body: transfer } = await service.call("POST", "/transfers", {
    token: admin.token,
    body: { eid, email: recipient.email, force_transfer: true },
  })
  const code = await codeFor(service, recipient.email, transfer.id)
  let accepted: ReturnType<typeof service.call> | undefined
  await service.sql.begin(async (sql) => {
    await sql`select delete_user(${recipient.id}, true, array['User'])`
    accepted = service.call("POST", `/transfers/${transfer.id}/receiver_accept`, {
      token: recipient.token,
      body: { code },
    })
    await expect.poll(() => waiting(service)).toHaveLength(1)
  })
  // The deletion has changed the transfer, so the request reads it again: the caller has no confirmed address any more.
  expect((await accepted)?.status).toBe(403)
  expect(await ownerOf(service, eid)).toBe(sender.id)
  expect(await claimOf(service, eid)).toMatchObject({ kind: "transfer", owner_id: sender.id })
})

it("a transfer from a deactivated account can be accepted only if an administrator forced the transfer", async () => {
  const [sender, recipient] = await Promise.all([service.user(), service.user()])
  const begin = async (token: string, eid: string, force_transfer: boolean) => {
    await grant(service, sender, eid)
    const body = { eid, email: recipient.email, force_transfer }
    return (await service.call("POST", "/transfers", { token, body })).body
  }
  const act = async (by: TestUser, transfer: { readonly id: string }, what: string) => {
    const body = { code: await codeFor(service, by.email, transfer.id) }
    return service.call("POST", `/transfers/${transfer.id}/${what}`, { token: by.token, body })
  }
  const stolen = await begin(sender.token, nextId(), false)
  expect((await act(sender, stolen, "sender_accept")).status).toBe(200)
  const setActive = (active: boolean) =>
    service.call("PATCH", `/users/${sender.id}`, { token: admin.token, body: { active } })
  expect((await setActive(false)).status).toBe(200)
  const rescued = await begin(admin.token, nextId(), true)
  expect((await act(recipient, stolen, "receiver_accept")).status).toBe(409)
  expect(await ownerOf(service, stolen.eid)).toBe(sender.id)
  expect((await act(recipient, rescued, "receiver_accept")).status).toBe(200)
  // The request that was rejected with 409 did not consume its code, so the same code is accepted now.
  await setActive(true)
  expect((await act(recipient, stolen, "receiver_accept")).status).toBe(200)
})
