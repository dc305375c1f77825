import { expect, it } from "vitest"
import { type Answer, serve, type TestUser } from "../fixtures/service.ts"
import { waiting } from "../fixtures/waiting.ts"

const service = await serve()
const admin = await service.user({ role: "Admin" })

/**
 * Sends a request while a transaction deletes the account, and returns the status. The request waits until the
 * transaction commits.
 */
const whileDeleted = async (user: TestUser, send: () => Promise<Answer>) => {
  let answer: Promise<Answer> | undefined
  await service.sql.begin(async (sql) => {
    await sql`select delete_user(${user.id}, true, array['User'])`
    answer = send()
    await expect.poll(() => waiting(service)).toHaveLength(1)
  })
  return (await answer)?.status
}

it("an account that is being deleted cannot become a member of an organization", async () => {
  const user = await service.user()
  const made = await service.call("POST", "/organizations", { token: admin.token, body: { name: "Acme" } })
  const path = `/organizations/${made.body.id}/members`
  const add = () =>
    service.call("PUT", `${path}/${user.id}`, { token: admin.token, body: { role: "OrgOwner" } })
  expect(await whileDeleted(user, add)).toBe(404)
  expect((await service.call("GET", path, { token: admin.token })).body).toEqual([])
})

it("an account that is being deleted cannot get a new name and email address", async () => {
  const user = await service.user()
  const email = "moved-while-deleted@example.com"
  const body = { first_name: "Ann", email }
  const change = () => service.call("PATCH", "/account", { token: user.token, body })
  expect(await whileDeleted(user, change)).toBe(409)
  const [left] = await service.sql`select email, first_name from app_user where id = ${user.id}`
  expect(left).toEqual({ email: null, first_name: null })
  expect((await service.call("POST", "/users", { body: { email } })).status).toBe(200)
})

it("an account that is being deleted cannot get a new name", async () => {
  const user = await service.user()
  const change = () => service.call("PATCH", "/account", { token: user.token, body: { first_name: "Ann" } })
  expect(await whileDeleted(user, change)).toBe(409)
  const [left] = await service.sql`select first_name from app_user where id = ${user.id}`
  expect(left).toEqual({ first_name: null })
})

it("an account that is being deleted cannot get a feature", async () => {
  const user = await service.user()
  const made = await service.call("POST", "/features", {
    token: admin.token,
    body: { code: "beta", description: "" },
  })
  const give = () => service.call("PUT", `/users/${user.id}/features/${made.body.id}`, { token: admin.token })
  expect(await whileDeleted(user, give)).toBe(404)
  expect(await service.sql`select 1 from user_feature where user_id = ${user.id}`).toEqual([])
})
