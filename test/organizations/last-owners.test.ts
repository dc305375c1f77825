import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"
import { roomy, waiting } from "../fixtures/waiting.ts"

const service = await serve(roomy)

it("if both owners of an organization delete their accounts simultaneously, one deletion is rejected", async () => {
  const admin = await service.user({ role: "Admin" })
  const made = await service.call("POST", "/organizations", { token: admin.token, body: { name: "Acme" } })
  const path = `/organizations/${made.body.id}/members`
  const owners = [await service.user(), await service.user()]
  for (const { id } of owners) {
    await service.call("PUT", `${path}/${id}`, { token: admin.token, body: { role: "OrgOwner" } })
  }
  // The lock delays the last step of both deletions, so both run at the same time.
  let leaving: ReadonlyArray<ReturnType<typeof service.call>> = []
  await service.sql.begin(async (sql) => {
    await sql`lock table api_key in share mode`
    leaving = owners.map(({ id, token }) => service.call("DELETE", `/users/${id}`, { token }))
    await expect.poll(() => waiting(service)).toHaveLength(2)
  })
  const statuses = (await Promise.all(leaving)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([200, 409])
  const { body } = await service.call("GET", path, { token: admin.token })
  expect(body).toMatchObject([{ role: "OrgOwner" }])
})

it("the last administrator cannot be demoted or deleted, even if two administrators demote each other simultaneously", async () => {
  await service.sql`update app_user set role = 'User' where role = 'Admin'`
  const [one, other] = [await service.user({ role: "Admin" }), await service.user({ role: "Admin" })]
  const stepDown = (id: string, token: string) =>
    service.call("PATCH", `/users/${id}`, { token, body: { role: "User" } })
  let removing: ReadonlyArray<ReturnType<typeof service.call>> = []
  await service.sql.begin(async (sql) => {
    await sql`lock table app_user in share mode`
    removing = [stepDown(other.id, one.token), stepDown(one.id, other.token)]
    await expect.poll(() => waiting(service)).toHaveLength(2)
  })
  expect((await Promise.all(removing)).map(({ status }) => status).sort()).toEqual([200, 409])

  const [last = one] = await service.sql<{ id: string }[]>`select id from app_user where role = 'Admin'`
  const { token } = last.id === one.id ? one : other
  expect((await stepDown(last.id, token)).status).toBe(409)
  expect((await service.call("DELETE", `/users/${last.id}`, { token })).status).toBe(409)
  const next = await service.user({ role: "Super" })
  expect((await service.call("DELETE", `/users/${last.id}`, { token: next.token })).status).toBe(200)
})
