import type { ChildProcess } from "node:child_process"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freePort } from "../fixtures/free-port.ts"
import { startProgram } from "../fixtures/program.ts"
import { request, serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { eventTypes, makeIds, ownerOf } from "../transfers/transfer-service.ts"

const nextId = makeIds(120_000)
const opens = 50
let nodes: readonly [TestService, TestService]
let admin: TestUser
let user: TestUser
const children: Array<ChildProcess> = []
interface Started {
  readonly child: ChildProcess
  readonly url: string
}
let starting: Promise<readonly [Started, Started]>

beforeAll(async () => {
  const first = await serve({}, { peersPossible: true })
  nodes = [first, await serve({}, { database: first.database, peersPossible: true })]
  admin = await first.user({ role: "Admin" })
  user = await first.user()
  // The child processes start slowly. The first tests run while they start.
  starting = Promise.all([startChild(), startChild()])
})
afterAll(() => {
  for (const child of children) child.kill("SIGKILL")
})

const ownedBox = async () => {
  const yats = [nextId(), nextId(), nextId()]
  const { body } = await nodes[0].call("POST", "/lootboxes", {
    token: admin.token,
    body: { status: "Owned", yats, owner_id: user.id },
  })
  return { id: body.id as string, yats }
}

/** Counts the rows that opening a lootbox writes. */
const countsOf = async (id: string, yats: ReadonlyArray<string>) => {
  const { sql } = nodes[0]
  const [granted] = await sql`select count(*)::int as n from emoji_id where canonical = any(${[...yats]})
                                 and owner_id = ${user.id} and source = ${`lootbox:${id}`}`
  const [owned] = await sql`select count(*)::int as n from claim where canonical = any(${[...yats]})
                               and kind = 'owned' and holder = ${user.id}`
  const [published] = await sql`select count(*)::int as n from event
                            where channel = ${`lootboxes:${user.id}`} and type = 'lootbox.opened' and data->>'id' = ${id}`
  const registered = await Promise.all(yats.map((yat) => eventTypes(nodes[0], `emoji_id:${yat}`)))
  return {
    granted: granted?.["n"],
    owned: owned?.["n"],
    published: published?.["n"],
    registered: registered.flat().length,
  }
}
const openedOnce = { granted: 3, owned: 3, published: 1, registered: 3 }

/** Starts a separate process on the same database, like a worker of the service. */
const startChild = async (): Promise<Started> => {
  const port = await freePort()
  const { child } = startProgram({
    WORKER_OF: JSON.stringify(nodes[0].database),
    NODE_ENV: "test",
    DEMO: "false",
    PORT: String(port),
    BASE_URL: "http://localhost:3001",
    LOG_LEVEL: "Fatal",
    RATE_LIMIT: "off",
    SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString("base64url")}`,
  })
  children.push(child)
  const url = `http://127.0.0.1:${port}`
  for (;;) {
    const answer = await request(`${url}/ready`, "GET").catch(() => undefined)
    if (answer?.status === 200) return { child, url }
    if (child.exitCode !== null) throw new Error("the process stopped")
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const openMany = (url: string, id: string) =>
  Promise.allSettled(
    Array.from({ length: opens }, () =>
      request(`${url}/lootboxes/${id}/open`, "POST", { token: user.token }),
    ),
  )
const wins = (attempts: Awaited<ReturnType<typeof openMany>>): number =>
  attempts.filter((attempt) => attempt.status === "fulfilled" && attempt.value.status === 200).length

describe("opening a lootbox", () => {
  it("fifty times concurrently in two processes succeeds once", async () => {
    const { id, yats } = await ownedBox()
    const answers = await Promise.all(
      Array.from({ length: opens }, (_, n) =>
        nodes[n % 2 === 0 ? 0 : 1].call("POST", `/lootboxes/${id}/open`, { token: user.token }),
      ),
    )
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    expect(won[0]?.body.yats).toEqual(yats)
    for (const { body, status } of answers)
      if (status !== 200) expect([status, body.state]).toEqual([409, "Used"])
    expect(await countsOf(id, yats)).toEqual(openedOnce)
  })

  it("succeeds once if the owner and an administrator open the lootbox concurrently", async () => {
    const { id, yats } = await ownedBox()
    const answers = await Promise.all([
      nodes[0].call("POST", `/lootboxes/${id}/open`, { token: user.token }),
      nodes[1].call("PATCH", `/lootboxes/${id}`, { token: admin.token, body: { status: "Used" } }),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(await countsOf(id, yats)).toEqual(openedOnce)
  })

  it("grants each id once if a process is killed while it handles fifty requests to open the lootbox", async () => {
    const { id, yats } = await ownedBox()
    const { child, url } = (await starting)[0]
    const attempts = openMany(url, id)
    await new Promise((resolve) => setTimeout(resolve, 8))
    child.kill("SIGKILL")
    const won = wins(await attempts)
    const counts = await countsOf(id, yats)
    expect([openedOnce, { granted: 0, owned: 0, published: 0, registered: 0 }]).toContainEqual(counts)
    if (won > 0) expect(counts).toEqual(openedOnce)

    const after = await nodes[0].call("POST", `/lootboxes/${id}/open`, { token: user.token })
    expect([200, 409]).toContain(after.status)
    expect(won + (after.status === 200 ? 1 : 0)).toBeLessThanOrEqual(1)
    expect(await countsOf(id, yats)).toEqual(openedOnce)
    expect(await ownerOf(nodes[1], yats[0]!)).toBe(user.id)
  })

  it("grants each id once if a process is killed while its SQL statement waits for a lock", async () => {
    const { id, yats } = await ownedBox()
    const { child, url } = (await starting)[1]
    const { sql } = nodes[0]
    let attempts: ReturnType<typeof openMany> | undefined
    // The row of the lootbox is locked, so the child's statement waits in Postgres while the child is killed.
    await sql.begin(async (locked) => {
      await locked`select 1 from entity where kind = 'lootbox' and id = ${id} for update`
      attempts = openMany(url, id)
      const waiting = () => sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%commit_batch%'`
      await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0)
      child.kill("SIGKILL")
      await new Promise((resolve) => child.once("exit", resolve))
    })
    expect(wins((await attempts) ?? [])).toBe(0)
    const after = await nodes[1].call("POST", `/lootboxes/${id}/open`, { token: user.token })
    expect([200, 409]).toContain(after.status)
    expect(await countsOf(id, yats)).toEqual(openedOnce)
  })
})
