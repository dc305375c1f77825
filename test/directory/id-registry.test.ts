import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { expectContract } from "../fixtures/contract.ts"
import type { TestUser } from "../fixtures/service.ts"
import { bitcoin, type DirectoryService, serveDirectory } from "./directory-service.ts"

let service: DirectoryService
let user: TestUser
beforeAll(async () => {
  service = await serveDirectory()
  user = await service.user()
})
const register = (body: unknown, caller = service.admin) =>
  service.call("POST", "/emoji_id", { token: caller.token, body })
const destroy = (text: string, caller = service.admin) =>
  service.call("DELETE", `/emoji_id/${encodeURIComponent(text)}`, { token: caller.token, rawBody: "null" })
const codes = (answer: { body: { fields: Record<string, ReadonlyArray<{ code: string }>> } }) =>
  Object.entries(answer.body.fields).map(([field, [issue]]) => [field, issue?.code])

describe("registration with `POST /emoji_id`", () => {
  it("gives the id to the user immediately, even if a 404 response for the id was cached", async () => {
    expect((await service.lookup("🦄🦄")).status).toBe(404)
    expect((await service.lookup("🦄🦄")).status).toBe(404)
    const answer = await register({ emoji_id: "🦄🦄", email: user.email.toUpperCase() })
    expect(answer.status).toBe(200)
    expectContract("EmojiListItem", answer.body)
    expect((await service.lookup("🦄🦄")).status).toBe(200)
    const [claim] = await service.sql`select kind, owner_id from claim where canonical = '🦄🦄'`
    expect(claim).toMatchObject({ kind: "owned", owner_id: user.id })
  })

  it("stores the skin tones of the requested id for display", async () => {
    const answer = await register({ emoji_id: "👍🏽🦄", user_id: user.id })
    expect(answer.body).toMatchObject({ canonical_format: "👍🦄", display_format: "👍🏽🦄" })
    const { body } = await service.lookup("👍🦄")
    expect(body.result).toMatchObject([{ tag: "0x0001", data: "👍🏽🦄" }])
    expect((await service.lookup("🦄🦄")).body.result).toEqual([])
  })

  it("returns the id as the list of its owner shows it", async () => {
    const owner = await service.user()
    const { body } = await register({ emoji_id: "👍🏽🐙", user_id: owner.id })
    expect((await service.call("GET", "/emoji_id/extended", { token: owner.token })).body).toEqual([body])
  })

  it("rejects an id that is not free, an unknown user and an unknown key", async () => {
    expect(codes(await register({ emoji_id: "🦄🦄", user_id: user.id }))).toEqual([
      ["emoji_id", "uniqueness"],
    ])
    await service.sql`insert into claim (canonical, kind, holder) values ('🦄🐶', 'order', ${randomUUID()})`
    expect(codes(await register({ emoji_id: "🦄🐶", user_id: user.id }))).toEqual([
      ["emoji_id", "uniqueness"],
    ])
    expect(codes(await register({ emoji_id: "🦄🐱", user_id: randomUUID() }))).toEqual([
      ["user_id", "unknown"],
    ])
    expect(codes(await register({ emoji_id: "🦄🐱", email: "no@example.com" }))).toEqual([
      ["email", "unknown"],
    ])
    expect(codes(await register({ emoji_id: "🦄🐱" }))).toEqual([["user_id", "one_of"]])
    const keyless = await register({ emoji_id: "🦄🐱", user_id: user.id, pubkey: "12" })
    expect(codes(keyless)).toEqual([["pubkey", "unknown"]])
    expect((await register({ emoji_id: "x", user_id: user.id })).status).toBe(400)
    expect((await service.lookup("🦄🐱")).status).toBe(404)
  })

  it("rejects an email address until its user has confirmed it", async () => {
    const email = `winner-${randomUUID()}@example.com`
    await service.call("POST", "/users", { body: { email, password: "correct horse battery" } })
    const refused = await register({ emoji_id: "🦄🐸", email })
    expect(refused.status).toBe(422)
    expect(codes(refused)).toEqual([["email", "unconfirmed"]])
    expect((await service.lookup("🦄🐸")).status).toBe(404)
    await service.sql`update app_user set email_verified_at = now() where email = ${email}`
    expect((await register({ emoji_id: "🦄🐸", email })).status).toBe(200)
  })

  it("rejects a deactivated user, named by `user_id` or by `email`", async () => {
    const gone = await service.user()
    await service.call("PATCH", `/users/${gone.id}`, { token: service.admin.token, body: { active: false } })
    expect(codes(await register({ emoji_id: "🦄🐻", user_id: gone.id }))).toEqual([["user_id", "unknown"]])
    expect(codes(await register({ emoji_id: "🦄🐻", email: gone.email }))).toEqual([["email", "unknown"]])
    expect((await service.lookup("🦄🐻")).status).toBe(404)
  })

  it("succeeds for exactly one of ten simultaneous requests for the same id", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => register({ emoji_id: "🦄🐭", user_id: user.id })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(9)
  })

  it("is allowed only for admins, like the removal of an id", async () => {
    const refused = await register({ emoji_id: "🦄🐰", user_id: user.id }, user)
    expect([refused.status, refused.body.scope]).toEqual([403, "adminEmoji:register"])
    expect((await destroy("🦄🦄", user)).body.scope).toBe("adminEmoji:destroy")
    expect((await service.call("DELETE", "/emoji_id/🦄🦄")).status).toBe(401)
  })
})

describe("removal by an admin", () => {
  it("deletes the id with all its data, and notifies a user who registered an interest in the id", async () => {
    const id = "🐸🐸"
    await register({ emoji_id: id, user_id: user.id })
    await service.edit(id, user, { insert: [{ tag: "0x5001", data: "x" }] })
    const waiting = await service.user()
    await service.call("POST", "/user_interests", { token: waiting.token, body: { emoji_id: id } })
    const path = `/emoji_id/${id}/json/SvcPageData`
    await service.call("POST", path, { token: user.token, body: { data: 1 } })
    const etag = (await service.lookup(id)).headers.get("etag") ?? ""
    const answer = await destroy(id)
    expect([answer.status, answer.body]).toEqual([200, [id]])
    expect((await service.lookup(id)).status).toBe(404)
    expect((await service.call("GET", path)).status).toBe(404)
    expect((await destroy(id)).status).toBe(404)
    const [left] = await service.sql`select count(*)::int as count from claim where canonical = ${id}`
    expect(left?.["count"]).toBe(0)
    await expect
      .poll(() => service.sql`select kind from outbox where recipient = ${waiting.email}`, {
        timeout: 10_000,
      })
      .toMatchObject([{ kind: "interest_available" }])
    const events = await service.sql`select type from event where channel = 'market'`
    expect(events.map(({ type }) => type)).toContain("market.released")

    await register({ emoji_id: id, user_id: user.id })
    const again = await service.call("GET", `/emoji_id/${id}`, { headers: { "If-None-Match": etag } })
    expect([again.status, again.body.result]).toEqual([200, []])
  })

  it("and a new registration give the id a higher version than it had before", async () => {
    const id = "🐸🐱"
    await register({ emoji_id: id, user_id: user.id })
    await service.edit(id, user, { insert: [{ tag: "0x1003", data: bitcoin }] })
    const before = (await service.lookup(id)).body.version
    await destroy(id)
    const answer = await register({ emoji_id: id, user_id: (await service.user()).id })
    expect(answer.body.version).toBeGreaterThan(before)
    expect((await service.lookup(id)).body).toMatchObject({ result: [], version: answer.body.version })
    const [event] = await service.sql`select data from event where channel = ${`emoji_id:${id}`}
                                      order by "offset" desc limit 1`
    expect(event?.["data"]).toEqual({ emoji_id: id, version: answer.body.version })
  })

  it("is rejected while the id is in transfer", async () => {
    await register({ emoji_id: "🐸🐶", user_id: user.id })
    await service.sql`update claim set kind = 'transfer', holder = ${randomUUID()} where canonical = '🐸🐶'`
    expect((await destroy("🐸🐶")).status).toBe(409)
    expect((await service.lookup("🐸🐶")).status).toBe(200)
  })
})
