import { describe, expect, it } from "vitest"
import { claimsOf, password, someEmail } from "../../accounts/person.ts"
import { serve } from "../../fixtures/service.ts"

const service = await serve()

/** The members and columns that decide what a user may do. Only administrators and the service itself set them. */
const privileges = {
  role: "Super",
  free_limit: 1000,
  free_used: -1000,
  scopes: ["user:write"],
  organizations: [{ role: "OrgOwner" }],
  email_verified_at: "2020-01-01T00:00:00Z",
  email_verified: true,
  deactivated_at: null,
  active: true,
  token_epoch: 99,
  id: "00000000-0000-4000-8000-000000000000",
  user_id: "00000000-0000-4000-8000-000000000000",
  two_factor_auth: [],
  password_hash: "x",
}
const rowOf = async (id: string) => {
  const [row] = await service.sql`
    select id, role, free_limit, free_used, token_epoch, deactivated_at, email_verified_at, alternate_id
      from app_user where id = ${id}`
  return row
}

describe("a user", () => {
  it("cannot change their role, free ids or other privileges with PATCH /account", async () => {
    const user = await service.user({ freeLimit: 1 })
    const before = await rowOf(user.id)
    const refused = await service.call("PATCH", "/account", {
      token: user.token,
      body: { first_name: "Ann", ...privileges },
    })
    expect(refused.status).toBe(400)
    expect(refused.body.error).toContain("role, free_limit")
    expect(await rowOf(user.id)).toEqual(before)
    const { body } = await service.call("GET", "/account", { token: user.token })
    expect(body).toMatchObject({ role: "User", user: { free_limit: 1 } })
    expect(body.user.first_name).toBeUndefined()
  })

  it.each(Object.entries(privileges))("cannot change `%s` alone with PATCH /account", async (name, value) => {
    const user = await service.user()
    const before = await rowOf(user.id)
    const refused = await service.call("PATCH", "/account", { token: user.token, body: { [name]: value } })
    expect(refused.status).toBe(400)
    await service.call("PATCH", "/account", {
      token: user.token,
      rawBody: `{"__proto__":{"${name}":${JSON.stringify(value)}}}`,
    })
    expect(await rowOf(user.id)).toEqual(before)
  })

  it("cannot change their role or free ids with PATCH /users/{id}", async () => {
    const user = await service.user()
    const before = await rowOf(user.id)
    for (const body of [{ role: "Admin" }, { free_limit: 9 }, { active: true }]) {
      const { status } = await service.call("PATCH", `/users/${user.id}`, { token: user.token, body })
      expect(status).toBe(403)
    }
    expect(await rowOf(user.id)).toEqual(before)
  })

  it("cannot register with a role, free ids or a confirmed email", async () => {
    const { body, status } = await service.call("POST", "/users", {
      body: { email: someEmail(), password, ...privileges },
    })
    expect(status).toBe(200)
    expect(await rowOf(claimsOf(body.access_token).sub)).toMatchObject({
      role: "User",
      free_limit: 1,
      free_used: 0,
      email_verified_at: null,
      token_epoch: 0,
    })
  })
})
