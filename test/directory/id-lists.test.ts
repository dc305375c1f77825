import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { IdLists, makeEach } from "../../src/directory/id-lists.ts"
import type { Principal } from "../../src/http/principal.ts"
import { expectAnswer } from "../fixtures/contract.ts"
import type { TestUser } from "../fixtures/service.ts"
import { type DirectoryService, serveDirectory } from "./directory-service.ts"

let service: DirectoryService
let owner: TestUser
let other: TestUser
let organizationId: string
beforeAll(async () => {
  service = await serveDirectory()
  owner = await service.user()
  other = await service.user()
  const [organization] = await service.sql<[{ id: string }]>`
    insert into organization (name) values ('Wallet maker') returning id`
  organizationId = organization.id
  await service.sql`insert into pubkey (pubkey, user_id, organization_id)
                    values (${"cd".repeat(32)}, ${other.id}, ${organizationId})`
  await service.register("👋🚀", owner)
  await service.register("🌊🌊", owner)
  await service.register("🐙", other, "cd".repeat(32))
  await service.edit("👋🚀", owner, { insert: [{ tag: "0x0001", data: "👋🏾🚀" }] })
})

const list = (caller: TestUser, query = "", form = "/emoji_id") =>
  service.call("GET", `${form}${query}`, { token: caller.token })

describe("the list of ids", () => {
  it("contains the caller's ids in display format, oldest first", async () => {
    const answer = await list(owner)
    expectAnswer("GET", "/emoji_id", answer.body)
    expect(answer.body).toEqual(["👋🏾🚀", "🌊🌊"])
    expect((await list(owner, "?limit=1&page=1")).body).toEqual(["🌊🌊"])
    expect((await service.call("GET", "/emoji_id")).status).toBe(401)
  })

  it("of one user is visible only to that user and to admins", async () => {
    expect((await list(service.admin, `?user_id=${owner.id}`)).body).toHaveLength(2)
    expect((await list(owner, `?user_id=${owner.id}`)).body).toHaveLength(2)
    const refused = await list(other, `?user_id=${owner.id}`)
    expect([refused.status, refused.body.scope]).toEqual([403, "adminEmoji:load"])
    expect((await list(owner, "?user_id=x")).status).toBe(400)
  })

  it("of an organization is visible only to its owners, its controllers and admins", async () => {
    const answers = []
    for (const role of ["OrgOwner", "OrgController", "OrgMember"]) {
      const member = await service.user()
      await service.sql`insert into organization_member (organization_id, user_id, role)
                        values (${organizationId}, ${member.id}, ${role})`
      const { body, status } = await list(member, `?organization_id=${organizationId}`)
      answers.push(status === 200 ? body : status)
    }
    expect(answers).toEqual([["🐙"], ["🐙"], 403])
    expect((await list(owner, `?organization_id=${organizationId}`)).status).toBe(403)
    expect((await list(service.admin, `?organization_id=${organizationId}`)).body).toEqual(["🐙"])
  })

  it("includes an id that is bound to the caller's key, even if another user is the owner", async () => {
    await service.sql`insert into pubkey (pubkey, user_id) values (${"ef".repeat(32)}, ${other.id})`
    await service.register("🐢🐢", other, "ef".repeat(32))
    await service.sql`update emoji_id set owner_id = ${service.admin.id} where canonical = '🐢🐢'`
    expect((await list(other)).body).toContain("🐢🐢")
  })

  it("in extended form contains the formats, version and shape of each id, and `blocked_until` of a blocked id", async () => {
    const answer = await list(owner, "", "/emoji_id/extended")
    expectAnswer("GET", "/emoji_id/extended", answer.body)
    expect(answer.body[0]).toMatchObject({
      canonical_format: "👋🚀",
      display_format: "👋🏾🚀",
      chain_format: "👋🚀",
      shortname: "wave.rocket",
      minted: false,
      generation: 0,
      version: 2,
    })
    expect(answer.body[1].shape).toMatchObject({ shape: "Repeaters", pattern: { value: "AA" } })
    expect(answer.body[0]).not.toHaveProperty("blocked_until")
    await service.sql`update emoji_id set blocked_until = now() + interval '1 hour' where canonical = '🌊🌊'`
    const blocked = await list(owner, "", "/emoji_id/extended")
    expect(Date.parse(blocked.body[1].blocked_until)).toBeGreaterThan(Date.now())
  })
})

describe("the list of ids for an OAuth access token", () => {
  const principal = (emojiId: string): Principal => ({
    userId: owner.id,
    role: "User",
    scopes: new Set(),
    via: "oauth",
    sessionId: "",
    emojiId,
    organizations: new Map(),
    twoFactor: false,
  })
  const reach = (emojiId: string) =>
    service.runtime.runPromise(
      Effect.flatMap(IdLists, (ids) =>
        ids.list(principal(emojiId), {
          user_id: other.id,
          limit: "10",
        }),
      ),
    )

  it("contains only the id that the user selected, and is empty if the user does not own that id", async () => {
    expect((await reach("👋🚀")).page.rows).toEqual(["👋🏾🚀"])
    expect((await reach("🐙")).page.rows).toEqual([])
    expect((await reach("no id")).page.rows).toEqual([])
  })
})

it("makeEach maps 2001 items in order, spread over five iterations of the event loop", async () => {
  let turn = 0
  const count = () => {
    turn++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  const numbers = Array.from({ length: 2001 }, (_, n) => n)
  const made = await Effect.runPromise(makeEach(numbers, (n) => [n, turn] as const))
  clearImmediate(next)
  expect(made.map(([n]) => n)).toEqual(numbers)
  expect(new Set(made.map(([, turn]) => turn)).size).toBe(5)
  expect(await Effect.runPromise(makeEach([], String))).toEqual([])
})
