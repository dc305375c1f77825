import { describe, expect, it } from "vitest"
import { expectAnswer, expectContract } from "../fixtures/contract.ts"
import { serve } from "../fixtures/service.ts"
import { grant } from "../transfers/transfer-service.ts"

const service = await serve()
const admin = await service.user({ role: "Admin" })

describe("GET /users", () => {
  it("returns every user exactly once across all pages, even if the values of the sort field are equal", async () => {
    await Promise.all(Array.from({ length: 7 }, () => service.user()))
    await service.sql`update app_user set created_at = '2026-01-01', first_name = 'Sam'`
    const [{ count }] = await service.sql<
      [{ count: number }]
    >`select count(*) from app_user where deleted_at is null`
    for (const sort of ["created_at", "first_name", "last_name", "role", "email"]) {
      const seen: Array<string> = []
      for (let page = 0; page * 3 < count; page++) {
        const { body } = await service.call("GET", `/users?limit=3&page=${page}&sort=${sort}&dir=Asc`, {
          token: admin.token,
        })
        expectAnswer("GET", "/users", body)
        expect(body.paging).toMatchObject({ dir: "Asc", limit: 3, page, sort, tags: {}, total: count })
        seen.push(...body.data.map((user: { id: string }) => user.id))
      }
      expect(seen).toHaveLength(count)
      expect(new Set(seen).size).toBe(count)
    }
  })

  it("sorts by email in both directions, and returns an empty page after the last page", async () => {
    const emails = async (dir: string) => {
      const { body } = await service.call("GET", `/users?limit=200&sort=email&dir=${dir}`, {
        token: admin.token,
      })
      return body.data.map((user: { email: string }) => user.email)
    }
    const ascending = await emails("Asc")
    expect(ascending).toEqual([...ascending].sort())
    expect(await emails("Desc")).toEqual([...ascending].reverse())
    const { body } = await service.call("GET", "/users?page=1000", { token: admin.token })
    expect(body.data).toEqual([])
    expect(body.paging.total).toBe(ascending.length)
  })

  it("finds users by the beginning of an email or `alternate_id`, by user id, and by an owned emoji id", async () => {
    const [one, other] = await Promise.all([service.user(), service.user()])
    await service.sql`update app_user set email = 'dora_%@search.test' where id = ${one.id}`
    await service.sql`update app_user set email = 'doris@search.test', alternate_id = 'Wallet-7' where id = ${other.id}`
    await grant(service, other, "🐢🌵🐢")
    const find = async (search: string, more = "") => {
      const { body } = await service.call("GET", `/users?search=${encodeURIComponent(search)}${more}`, {
        token: admin.token,
      })
      expectAnswer("GET", "/users", body)
      return { ids: body.data.map(({ id }: { id: string }) => id), total: body.paging.total }
    }
    expect(await find("dor", "&sort=email&dir=Asc")).toEqual({ ids: [one.id, other.id], total: 2 })
    expect(await find("dor", "&sort=email&dir=Asc&limit=1&page=1")).toEqual({ ids: [other.id], total: 2 })
    expect((await find(" Dora_%@ ")).ids).toEqual([one.id])
    expect((await find("dor_s")).ids).toEqual([])
    expect((await find("Wallet")).ids).toEqual([other.id])
    expect((await find(one.id.toUpperCase())).ids).toEqual([one.id])
    expect((await find("🐢🌵🐢")).ids).toEqual([other.id])
    expect((await find("nobody@search.test")).total).toBe(0)
    await service.sql`update app_user set deleted_at = now() where id = ${one.id}`
    expect((await find("dora")).total).toBe(0)
  })

  it("requires the scope `user:list`, and rejects a limit that is not between 1 and 200", async () => {
    const user = await service.user()
    const refused = await service.call("GET", "/users", { token: user.token })
    expect(refused.status).toBe(403)
    expect(refused.body).toMatchObject({ code: "forbidden", scope: "user:list" })
    expect((await service.call("GET", "/users?limit=0", { token: admin.token })).status).toBe(400)
    expect((await service.call("GET", "/users?limit=201", { token: admin.token })).status).toBe(400)
  })
})

describe("GET /users/{id}", () => {
  it("returns the caller's own user, and the ids with the skin tones that the owner chose", async () => {
    const user = await service.user()
    await grant(service, user, "👍🌊")
    await service.sql`insert into record (canonical, hash, tag, data) values ('👍🌊', 'h', 1, '👍🏽🌊')`
    const { body, status } = await service.call("GET", `/users/${user.id.toUpperCase()}`, {
      token: user.token,
    })
    expect(status).toBe(200)
    expectAnswer("GET", "/users/{id}", body)
    expect(body.emoji_ids).toEqual(["👍🏽🌊"])
  })

  it("returns all 201 ids of a user, but GET /users returns only the 200 oldest ids of each user", async () => {
    const [admin, user] = await Promise.all([service.user({ role: "Admin" }), service.user()])
    await service.sql`insert into emoji_id (canonical, owner_id, source, registered_at)
      select repeat('🐙', 3) || chr(127792 + n), ${user.id}, 'test', now() + make_interval(secs => n)
        from generate_series(1, 201) n`
    const one = await service.call("GET", `/users/${user.id}`, { token: user.token })
    expect(one.body.emoji_ids).toHaveLength(201)
    const list = await service.call("GET", "/users?sort=created_at&dir=Desc&limit=200", {
      token: admin.token,
    })
    const listed = list.body.data.find(({ id }: { id: string }) => id === user.id)
    expect(listed.emoji_ids).toEqual(one.body.emoji_ids.slice(0, 200))
  })

  it("requires `user:show` for other users, and returns 400 for a malformed id and 404 for an unknown id", async () => {
    const [one, other] = await Promise.all([service.user(), service.user()])
    expect((await service.call("GET", `/users/${other.id}`, { token: one.token })).status).toBe(403)
    expect((await service.call("GET", `/users/${other.id}`, { token: admin.token })).body.email).toBe(
      other.email,
    )
    expect((await service.call("GET", "/users/me", { token: admin.token })).status).toBe(400)
    const absent = await service.call("GET", "/users/00000000-0000-4000-8000-000000000000", {
      token: admin.token,
    })
    expect(absent.status).toBe(404)
  })
})

describe("PATCH /users/{id}", () => {
  const patch = (id: string, body: unknown, token = admin.token) =>
    service.call("PATCH", `/users/${id}`, { token, body })

  it("changes the given fields, keeps omitted fields, and clears a name that is sent as an empty text", async () => {
    const user = await service.user()
    const { body, status } = await patch(user.id, { first_name: "Ada", last_name: null, free_limit: 5 })
    expect(status).toBe(200)
    expectAnswer("PATCH", "/users/{id}", body)
    expect(body).toMatchObject({ first_name: "Ada", free_limit: 5, email: user.email })
    expect((await patch(user.id, { first_name: "" })).body.first_name).toBeUndefined()
    expect((await patch(user.id, {})).status).toBe(200)
  })

  it("marks a changed email as unconfirmed, and rejects an email that another user has", async () => {
    const [one, other] = await Promise.all([service.user(), service.user()])
    const { body } = await patch(one.id, { email: `  NEW-${one.email.toUpperCase()} ` })
    expect(body.email).toBe(`new-${one.email}`)
    expect(body.email_verified_at).toBeUndefined()
    const refused = await patch(one.id, { email: other.email })
    expect(refused.status).toBe(422)
    expect(refused.body.fields.email[0].code).toBe("uniqueness")
    expect((await patch(one.id, { email: "nobody" })).status).toBe(400)
  })

  it("applies a changed role and a deactivation to the user's next request", async () => {
    const user = await service.user()
    expect((await service.call("GET", "/users", { token: user.token })).status).toBe(403)
    expect((await patch(user.id, { role: "Admin" })).body.role).toBe("Admin")
    expect((await service.call("GET", "/users", { token: user.token })).status).toBe(200)
    expect((await patch(user.id, { active: false })).body.deactivated_at).toBeDefined()
    expect((await service.call("GET", "/account", { token: user.token })).status).toBe(401)
  })

  it("does not make old tokens valid again when a deactivated user is activated", async () => {
    const user = await service.user()
    await patch(user.id, { active: false })
    const { body } = await patch(user.id, { activation_source: "support" })
    expect(body.deactivated_at).toBeUndefined()
    expect(body.source).toBe("support")
    expect((await service.call("GET", "/account", { token: user.token })).status).toBe(401)
  })

  it("stores a new password as a hash and ends the user's sessions", async () => {
    const user = await service.user()
    expect((await patch(user.id, { password: "short" })).body.fields.password[0].code).toBe("too_short")
    expect((await patch(user.id, { password: "correct horse" })).status).toBe(200)
    expect((await service.call("GET", "/account", { token: user.token })).status).toBe(401)
    const [row] = await service.sql`select password_hash from app_user where id = ${user.id}`
    expect(row!["password_hash"]).toMatch(/^\$argon2id\$/)
    const wrong = await patch(user.id, { current_password: "battery", password: "staple staple" })
    expect(wrong.status).toBe(422)
    expect(
      (await patch(user.id, { current_password: "correct horse", password: "staple staple" })).status,
    ).toBe(200)
  })

  it("publishes `session.logged_out` on the user's session channel when it deactivates the user", async () => {
    const user = await service.user()
    await patch(user.id, { active: false })
    const events = await service.sql`select type, data from event where channel = ${`session:${user.id}`}`
    expect(events.map((e) => e["type"])).toEqual(["session.logged_out"])
  })

  it("cannot grant a role above the caller's role, and cannot change a user with a higher role", async () => {
    const [user, boss] = await Promise.all([service.user(), service.user({ role: "Super" })])
    expect((await patch(user.id, { role: "Super" })).status).toBe(403)
    expect((await patch(boss.id, { first_name: "Eve" })).status).toBe(403)
    expect((await patch(boss.id, { password: "correct horse" })).status).toBe(403)
    expect((await patch(user.id, { role: "Super" }, boss.token)).body.role).toBe("Super")
    expect((await patch(user.id, { role: "Emperor" })).status).toBe(400)
  })

  it("is denied to ordinary users, even for their own account", async () => {
    const user = await service.user()
    const refused = await patch(user.id, { free_limit: 100 }, user.token)
    expect(refused.status).toBe(403)
    expect(refused.body.scope).toBe("user:write")
  })

  it("rejects deactivating the caller's own account", async () => {
    expect((await patch(admin.id, { active: false })).status).toBe(403)
  })
})

describe("DELETE /users/{id}", () => {
  const remove = (id: string, token: string) =>
    service.call("DELETE", `/users/${id}`, { token, rawBody: "null" })

  it("deletes the caller's account, ends the sessions and makes the email available to a new account", async () => {
    const user = await service.user()
    await service.sql`insert into user_interest (user_id, canonical) values (${user.id}, '🌊')`
    await service.sql`insert into api_key (id, user_id, name, secret_hash, scopes) values (${user.id}, ${user.id}, 'k', 'h', '{}')`
    const { body, status } = await remove(user.id, user.token)
    expect(status).toBe(200)
    expectAnswer("DELETE", "/users/{id}", body)
    expect(body.email).toBeUndefined()
    expect(body.deactivated_at).toBeDefined()
    expect((await service.call("GET", "/account", { token: user.token })).status).toBe(401)
    expect((await service.user({ email: user.email })).id).not.toBe(user.id)
    expect((await service.call("GET", `/users/${user.id}`, { token: admin.token })).status).toBe(404)
    const [left] = await service.sql`
      select (select count(*) from user_interest where user_id = ${user.id}) as interests,
             (select count(*) from api_key where user_id = ${user.id}) as keys`
    expect(left).toEqual({ interests: 0, keys: 0 })
  })

  it("is rejected while the user owns ids, with an error that lists the ids", async () => {
    const user = await service.user()
    await grant(service, user, "🐙🐙🐙")
    const { body, status } = await remove(user.id, user.token)
    expect(status).toBe(409)
    expect(body.held.emoji_ids).toEqual(["🐙🐙🐙"])
    expect((await service.call("GET", "/account", { token: user.token })).status).toBe(200)
  })

  it("is rejected while the user has a pending transfer or an order with a pending payment", async () => {
    const [payer, receiver] = await Promise.all([service.user(), service.user()])
    await service.sql`
      insert into entity (kind, id, version, turn, status, state, owner_id, peer_id) values
        ('order', gen_random_uuid(), 1, gen_random_uuid(), 'PendingPayment', '{}', ${payer.id}, null),
        ('transfer', gen_random_uuid(), 1, gen_random_uuid(), 'AwaitingReceiver', '{}', ${admin.id}, ${receiver.id})`
    expect((await remove(payer.id, payer.token)).body.held.pending_orders).toHaveLength(1)
    expect((await remove(receiver.id, receiver.token)).body.held.active_transfers).toHaveLength(1)
  })

  it("allows an administrator to delete a user who owns ids, and lists the ids that stay reserved", async () => {
    const user = await service.user()
    await grant(service, user, "🦊🦊🦊")
    const { body, status } = await remove(user.id, admin.token)
    expect(status).toBe(200)
    expect(body.kept_emoji_ids).toEqual(["🦊🦊🦊"])
    const [claim] = await service.sql`select kind, owner_id from claim where canonical = '🦊🦊🦊'`
    expect(claim).toEqual({ kind: "owned", owner_id: user.id })
  })

  it("is rejected for an administrator's own account while the account owns ids", async () => {
    const leaving = await service.user({ role: "Admin" })
    await grant(service, leaving, "🐼🐼🐼")
    for (const id of [leaving.id, leaving.id.toUpperCase()]) {
      const { body, status } = await remove(id, leaving.token)
      expect(status).toBe(409)
      expect(body.held.emoji_ids).toEqual(["🐼🐼🐼"])
    }
    expect((await service.call("GET", "/account", { token: leaving.token })).status).toBe(200)
    expect((await remove(leaving.id, admin.token)).status).toBe(200)
  })

  it("is denied to ordinary users for other users, and to administrators for users with a higher role", async () => {
    const [one, other, boss] = await Promise.all([
      service.user(),
      service.user(),
      service.user({ role: "Super" }),
    ])
    expect((await remove(other.id, one.token)).status).toBe(403)
    expect((await remove(boss.id, admin.token)).status).toBe(403)
    expect((await remove("00000000-0000-4000-8000-000000000000", admin.token)).status).toBe(404)
  })
})

describe("DELETE /users/{id}/2fa", () => {
  const secondFactor = (userId: string) =>
    service.sql`insert into two_factor (user_id, provider, confirmed_at) values (${userId}, 'AuthenticatorApp', now())`

  it("removes the user's second factor and ends the user's sessions", async () => {
    const user = await service.user()
    await secondFactor(user.id)
    const { body, status } = await service.call("DELETE", `/users/${user.id}/2fa`, { token: admin.token })
    expect(status).toBe(200)
    expectContract("DisplayUser", body)
    expect(body.two_factor_auth).toEqual([])
    expect((await service.call("GET", "/account", { token: user.token })).status).toBe(401)
    expect((await service.call("DELETE", `/users/${user.id}/2fa`, { token: admin.token })).status).toBe(200)
  })

  it("is denied to ordinary users, and to administrators for users with a higher role", async () => {
    const [user, boss] = await Promise.all([service.user(), service.user({ role: "Super" })])
    await secondFactor(boss.id)
    expect((await service.call("DELETE", `/users/${user.id}/2fa`, { token: user.token })).status).toBe(403)
    expect((await service.call("DELETE", `/users/${boss.id}/2fa`, { token: admin.token })).status).toBe(403)
  })
})
