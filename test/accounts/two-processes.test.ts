import { describe, expect, it } from "vitest"
import { createDatabase } from "../fixtures/database.ts"
import { serve } from "../fixtures/service.ts"

const database = await createDatabase()
const one = await serve({}, { database, peersPossible: true })
const two = await serve({}, { database, peersPossible: true })
const admin = await one.user({ role: "Admin" })

const onBoth = async (path: string, options: { token?: string; headers?: Record<string, string> }) =>
  Promise.all([one, two].map(async (service) => (await service.call("GET", path, options)).status))

describe("two processes on one database", () => {
  it("both apply a changed role and a deactivation as soon as one process acknowledges the change", async () => {
    const { id, token } = await one.user()
    expect(await onBoth("/users", { token })).toEqual([403, 403])
    await one.call("PATCH", `/users/${id}`, { token: admin.token, body: { role: "Admin" } })
    expect(await onBoth("/users", { token })).toEqual([200, 200])
    await two.call("PATCH", `/users/${id}`, { token: admin.token, body: { active: false } })
    expect(await onBoth("/users", { token })).toEqual([401, 401])
  })

  it("both reject a deleted API key as soon as one process acknowledges the deletion", async () => {
    const { token } = await one.user()
    const { body } = await one.call("POST", "/api_keys", { token, body: { name: "k" } })
    const headers = { "x-api-key": body.api_key }
    expect(await onBoth("/pubkeys", { headers })).toEqual([200, 200])
    await two.call("DELETE", `/api_keys/${body.id}`, { token })
    expect(await onBoth("/pubkeys", { headers })).toEqual([401, 401])
  })

  it("both reject the token of a deleted user as soon as one process acknowledges the deletion", async () => {
    const { id, token } = await two.user()
    expect(await onBoth("/account", { token })).toEqual([200, 200])
    await one.call("DELETE", `/users/${id}`, { token })
    expect(await onBoth("/account", { token })).toEqual([401, 401])
  })

  it("both reject a removed organization member as soon as one process acknowledges the removal", async () => {
    const { id, token } = await one.user()
    const organization = (
      await one.call("POST", "/organizations", { token: admin.token, body: { name: "Acme" } })
    ).body
    const member = `/organizations/${organization.id}/members/${id}`
    await one.call("PUT", member, { token: admin.token, body: { role: "OrgMember" } })
    expect(await onBoth(`/organizations/${organization.id}`, { token })).toEqual([200, 200])
    await two.call("DELETE", member, { token: admin.token })
    expect(await onBoth(`/organizations/${organization.id}`, { token })).toEqual([403, 403])
  })
})
