import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { ethereum, serveDirectory } from "../directory/directory-service.ts"
import { freshId } from "../orders/shopper.ts"

const service = await serveDirectory()
const { admin } = service

const makeOrganization = async () => {
  const { body } = await service.call("POST", "/organizations", {
    token: admin.token,
    body: { name: "Acme" },
  })
  const owner = await service.user()
  const join = { token: admin.token, body: { role: "OrgOwner" } }
  expect((await service.call("PUT", `/organizations/${body.id}/members/${owner.id}`, join)).status).toBe(200)
  return { id: body.id as string, owner }
}
const makeKey = async (token: string): Promise<string> =>
  (await service.call("POST", "/pubkeys", { token })).body
const keyPath = (organizationId: string, pubkey: string) =>
  `/organizations/${organizationId}/pubkeys/${pubkey}`
const nowhere = randomUUID()

it("an owner of an organization can list and edit the ids of an assigned key until the key is removed", async () => {
  const { id, owner } = await makeOrganization()
  const keyOwner = await service.user()
  const pubkey = await makeKey(keyOwner.token)
  const eid = freshId()
  await service.register(eid, keyOwner, pubkey)
  const listed = async () =>
    (await service.call("GET", `/emoji_id?organization_id=${id}`, { token: owner.token })).body
  const write = async (data: string) =>
    (await service.edit(eid, owner, { insert: [{ tag: "0x5001", data }] })).status
  expect([await listed(), await write("before")]).toEqual([[], 403])

  const given = await service.call("PUT", keyPath(id, pubkey.toUpperCase()), { token: admin.token })
  expect([given.status, given.body]).toEqual([200, pubkey])
  expect((await service.call("PUT", keyPath(id, pubkey), { token: admin.token })).status).toBe(200)
  expect((await service.call("GET", `/organizations/${id}/pubkeys`, { token: owner.token })).body).toEqual([
    pubkey,
  ])
  expect([await listed(), await write("meanwhile")]).toEqual([[eid], 200])

  expect((await service.call("DELETE", keyPath(id, pubkey), { token: admin.token })).body).toBe(pubkey)
  expect([await listed(), await write("afterwards")]).toEqual([[], 403])
  expect((await service.call("DELETE", keyPath(id, pubkey), { token: admin.token })).status).toBe(404)
  expect((await service.call("GET", "/pubkeys", { token: keyOwner.token })).body).toEqual([pubkey])
})

it("an organization's ids include those that are registered for a key, or get it by a transfer, after its assignment", async () => {
  const { id, owner } = await makeOrganization()
  const [keyOwner, sender] = [await service.user(), await service.user()]
  const pubkey = await makeKey(keyOwner.token)
  expect((await service.call("PUT", keyPath(id, pubkey), { token: admin.token })).status).toBe(200)
  const listed = async () =>
    (await service.call("GET", `/emoji_id?organization_id=${id}`, { token: owner.token })).body
  expect(await listed()).toEqual([])
  const [bought, moved] = [freshId(), freshId()]
  await service.register(bought, keyOwner, pubkey)
  expect(await listed()).toEqual([bought])
  await service.register(moved, sender)
  await service.sql`update emoji_id set owner_id = ${keyOwner.id}, pubkey = ${pubkey} where owner_id = ${sender.id}`
  expect((await listed()).toSorted()).toEqual([bought, moved].toSorted())
  // The key is deleted while ids refer to it, and stored again.
  const [row] = await service.sql`delete from pubkey where pubkey = ${pubkey} returning *`
  expect(await listed()).toEqual([])
  await service.sql`insert into pubkey (pubkey, user_id, organization_id) values (${pubkey}, ${row!["user_id"]}, ${id})`
  expect((await listed()).toSorted()).toEqual([bought, moved].toSorted())
})

it("an id that is bound to an organization's key can be minted by the key's user, not by the organization's owner", async () => {
  const { id, owner } = await makeOrganization()
  const keyOwner = await service.user()
  const pubkey = await makeKey(keyOwner.token)
  const eid = freshId()
  await service.register(eid, keyOwner, pubkey)
  expect((await service.call("PUT", keyPath(id, pubkey), { token: admin.token })).status).toBe(200)
  const mint = async (token: string) => {
    const path = `/emoji_id/${encodeURIComponent(eid)}/generate_signature`
    return (await service.call("POST", path, { token, body: { account: ethereum } })).status
  }
  expect(await mint(owner.token)).toBe(403)
  expect(await mint(keyOwner.token)).toBe(200)
})

it("only administrators can assign a key, and a key can be assigned to only one organization", async () => {
  const [one, other] = [await makeOrganization(), await makeOrganization()]
  const pubkey = await makeKey(one.owner.token)
  const assign = async (organizationId: string, key: string, token = admin.token) =>
    (await service.call("PUT", keyPath(organizationId, key), { token })).status
  expect(await assign(one.id, pubkey, one.owner.token)).toBe(403)
  expect(await assign(nowhere, pubkey)).toBe(404)
  expect(await assign(one.id, "ab".repeat(32))).toBe(404)
  expect(await assign(one.id, pubkey)).toBe(200)
  expect(await assign(other.id, pubkey)).toBe(409)
  const strangers = { token: other.owner.token }
  expect((await service.call("GET", `/organizations/${one.id}/pubkeys`, strangers)).status).toBe(403)
})
