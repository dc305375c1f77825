import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"

/**
 * If the response to a committed statement is lost, the statement is sent again and changes nothing the second time.
 * The caches must be invalidated nevertheless. These tests run the first statement directly in the database.
 */
const service = await serve()
const admin = await service.user({ role: "Admin" })

it("a deleted API key is rejected even if the database's response to the deletion was lost", async () => {
  const user = await service.user()
  const made = await service.call("POST", "/api_keys", { token: user.token, body: { name: "leaked" } })
  const use = () => service.call("GET", "/pubkeys", { headers: { "x-api-key": made.body.api_key } })
  expect((await use()).status).toBe(200)
  await service.sql`delete from api_key where id = ${made.body.id}`
  const repeated = await service.call("DELETE", `/api_keys/${made.body.id}`, { token: user.token })
  expect(repeated.status).toBe(404)
  expect((await use()).status).toBe(401)
})

it("a deleted user's token is rejected even if the database's response to the deletion was lost", async () => {
  const user = await service.user()
  const use = () => service.call("GET", "/pubkeys", { token: user.token })
  expect((await use()).status).toBe(200)
  await service.sql`select delete_user(${user.id}, false, array['User'])`
  const repeated = await service.call("DELETE", `/users/${user.id}`, { token: admin.token })
  expect(repeated.status).toBe(404)
  expect((await use()).status).toBe(401)
})

it("a removed member of an organization is rejected even if the response to the removal was lost", async () => {
  const user = await service.user()
  const made = await service.call("POST", "/organizations", { token: admin.token, body: { name: "Acme" } })
  const member = `/organizations/${made.body.id}/members/${user.id}`
  await service.call("PUT", member, { token: admin.token, body: { role: "OrgOwner" } })
  const use = () => service.call("GET", `/organizations/${made.body.id}/members`, { token: user.token })
  expect((await use()).status).toBe(200)
  await service.sql`select set_member(${made.body.id}, ${user.id}, null, true)`
  expect((await service.call("DELETE", member, { token: admin.token })).status).toBe(404)
  expect((await use()).status).toBe(403)
})
