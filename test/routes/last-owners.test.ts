import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"
import { waiting } from "../fixtures/waiting.ts"

const service = await serve()

it("two owners who delete their accounts at the same moment do not leave the organization without one", async () => {
  const admin = await service.user({ role: "Admin" })
  const made = await service.call("POST", "/organizations", { token: admin.token, body: { name: "Acme" } })
  const path = `/organizations/${made.body.id}/members`
  const owners = [await service.user(), await service.user()]
  for (const { id } of owners) {
    await service.call("PUT", `${path}/${id}`, { token: admin.token, body: { role: "OrgOwner" } })
  }
  // Both are under way before either is through: what one of them is about to delete last is held for a moment.
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
