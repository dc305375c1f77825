import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { InterestNotices } from "../../src/market/interest-notices.ts"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { eventTypes, mails, makeIds } from "../transfers/transfer-service.ts"

const nextId = makeIds(150_000)
let nodes: readonly [TestService, TestService]
let admin: TestUser

beforeAll(async () => {
  // The service sends notices in rounds. With this long interval it rarely starts a round. The tests start the rounds.
  const environment = { SWEEP_INTERVAL_MS: "60000", INTEREST_HEAD_START_SECONDS: "300" }
  const first = await serve(environment, { peersPossible: true })
  nodes = [first, await serve(environment, { database: first.database, peersPossible: true })]
  admin = await first.user({ role: "Admin" })
})

const call = (method: string, path: string, user: TestUser, body?: unknown) =>
  nodes[0].call(method, path, { token: user.token, ...(body === undefined ? {} : { body }) })
const round = (node = nodes[0]) =>
  node.runtime.runPromise(Effect.flatMap(InterestNotices, (notices) => notices.round))
const passHeadStart = (canonical: string) =>
  nodes[0].sql`update freed_id set due_at = due_at - interval '300 seconds' where canonical = ${canonical}`
const noticesOf = async (users: ReadonlyArray<TestUser>, canonical: string) => {
  const all = await Promise.all(users.map(({ email }) => mails(nodes[0], email)))
  return all.map(
    (list) =>
      list.filter(({ data, kind }) => kind === "interest_available" && data["emoji_id"] === canonical).length,
  )
}
/**
 * Makes an id that is in a lootbox, and users who registered an interest in the id one after the other. `free` deletes
 * the lootbox, so that the id becomes free.
 */
const wanted = async (count: number) => {
  const canonical = nextId()
  const { body } = await call("POST", "/lootboxes", admin, { status: "Draft", yats: [canonical] })
  const users: Array<TestUser> = []
  for (let n = 0; n < count; n++) {
    const user = await nodes[0].user()
    await nodes[0].sql`insert into user_interest (user_id, canonical) values (${user.id}, ${canonical})`
    users.push(user)
  }
  const free = () => call("DELETE", `/lootboxes/${body.id}`, admin)
  return { canonical, users, free }
}

describe("an id that becomes free", () => {
  it("is announced first to the user with the oldest interest, and five minutes later to the other users", async () => {
    const { canonical, free, users } = await wanted(4)
    await round()
    expect(await noticesOf(users, canonical)).toEqual([0, 0, 0, 0])
    await free()
    await round()
    await round()
    expect(await noticesOf(users, canonical)).toEqual([1, 0, 0, 0])
    expect(await eventTypes(nodes[0], `interests:${users[0]!.id}`)).toEqual(["interest.available"])
    await passHeadStart(canonical)
    await round()
    expect(await noticesOf(users, canonical)).toEqual([1, 1, 1, 1])
    const order = await nodes[0].sql<{ recipient: string }[]>`
      select recipient from outbox where kind = 'interest_available' and recipient = any(${users.map((u) => u.email)})
       order by id`
    expect(order.map(({ recipient }) => recipient)).toEqual(users.map(({ email }) => email))
    await round()
    expect(await noticesOf(users, canonical)).toEqual([1, 1, 1, 1])
    expect(await nodes[0].sql`select 1 from freed_id where canonical = ${canonical}`).toHaveLength(0)
  })

  it("is announced first to the user with the oldest interest among users with a verified email address", async () => {
    const { canonical, free, users } = await wanted(3)
    await nodes[0].sql`update app_user set email_verified_at = null where id = ${users[0]!.id}`
    await free()
    await round()
    expect(await noticesOf(users, canonical)).toEqual([0, 1, 0])
    expect(await eventTypes(nodes[0], `interests:${users[0]!.id}`)).toEqual([])
    await passHeadStart(canonical)
    await round()
    expect(await noticesOf(users, canonical)).toEqual([0, 1, 1])
    expect(await eventTypes(nodes[0], `interests:${users[0]!.id}`)).toEqual(["interest.available"])
  })

  it("is announced only to the first user if the id gets a new claim during the first five minutes", async () => {
    const { canonical, free, users } = await wanted(3)
    await free()
    await round()
    await call("POST", "/lootboxes", admin, { status: "Draft", yats: [canonical] })
    await passHeadStart(canonical)
    await round()
    expect(await noticesOf(users, canonical)).toEqual([1, 0, 0])
    expect(await nodes[0].sql`select 1 from freed_id where canonical = ${canonical}`).toHaveLength(0)
  })

  it("a second time within an hour is announced first to the user with the second-oldest interest", async () => {
    const { canonical, free, users } = await wanted(3)
    await free()
    await round()
    const { body } = await call("POST", "/lootboxes", admin, { status: "Draft", yats: [canonical] })
    await call("DELETE", `/lootboxes/${body.id}`, admin)
    await round()
    expect(await noticesOf(users, canonical)).toEqual([1, 1, 0])
    await passHeadStart(canonical)
    await round()
    expect(await noticesOf(users, canonical)).toEqual([1, 1, 1])
  })

  it("is announced exactly once to each user, even if two processes send notices simultaneously", async () => {
    const { canonical, free, users } = await wanted(5)
    await free()
    await Promise.all(Array.from({ length: 12 }, (_, n) => round(nodes[n % 2 === 0 ? 0 : 1])))
    await passHeadStart(canonical)
    await Promise.all(Array.from({ length: 12 }, (_, n) => round(nodes[n % 2 === 0 ? 0 : 1])))
    expect(await noticesOf(users, canonical)).toEqual([1, 1, 1, 1, 1])
  })

  it("is announced by another process after the lease of a stopped process has expired", async () => {
    const { canonical, free, users } = await wanted(1)
    await free()
    const { sql } = nodes[0]
    await sql`select * from take_freed(gen_random_uuid(), 64, 30)`
    await round(nodes[1])
    expect(await noticesOf(users, canonical)).toEqual([0])
    await sql`update freed_id set leased_until = now() - interval '1 second' where canonical = ${canonical}`
    await round(nodes[1])
    expect(await noticesOf(users, canonical)).toEqual([1])
  })

  it("is announced by a live event, but not by mail, to a user with an unverified email address", async () => {
    const { canonical, free, users } = await wanted(2)
    await nodes[0].sql`update app_user set email_verified_at = null where id = ${users[0]!.id}`
    await free()
    await round()
    await passHeadStart(canonical)
    await round()
    expect(await noticesOf(users, canonical)).toEqual([0, 1])
    expect(await eventTypes(nodes[0], `interests:${users[0]!.id}`)).toEqual(["interest.available"])
  })

  it("and in which no user has an interest is deleted from the table `freed_id`", async () => {
    const { canonical, free } = await wanted(0)
    await free()
    await round()
    expect(await nodes[0].sql`select 1 from freed_id where canonical = ${canonical}`).toHaveLength(0)
  })

  it("is announced in one round of notices, even if 500 ids without interests are due earlier", async () => {
    const { canonical, free, users } = await wanted(1)
    await nodes[0]
      .sql`insert into freed_id (canonical, due_at) select n, now() - interval '1 minute' from generate_series(1, 500) n`
    await free()
    await round()
    expect(await noticesOf(users, canonical)).toEqual([1])
    expect(await nodes[0].sql`select 1 from freed_id where canonical = '1'`).toHaveLength(0)
  })

  it("is also announced to the interested user if it was removed from the directory", async () => {
    const { canonical, free, users } = await wanted(1)
    await free()
    await nodes[0].sql`delete from freed_id where canonical = ${canonical}`
    await call("POST", "/lootboxes", admin, { status: "Used", yats: [canonical], owner_id: admin.id })
    await nodes[0].sql`select destroy_emoji_id(${canonical})`
    await round()
    expect(await noticesOf(users, canonical)).toEqual([1])
  })
})
