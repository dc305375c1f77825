import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { connect, findPrimary } from "../../src/postgres/client.ts"
import { prepareDatabase } from "../../src/postgres/schema/prepare-database.ts"
import { liveSocket } from "../fixtures/live-client.ts"
import { havePostgres, type Server, startPair } from "../fixtures/servers/postgres-pair.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { packagesOf } from "../fixtures/suite/system-program.ts"

const emoji = [..."🍇🍈🍉🍊🍋🍌🍍🍎🍐🍑🍒🍓🍆🌽🍄🍞🧀🍗🍔🍟🍕🌭🍳🍿🍱🍘"]
const ids = emoji.flatMap((one) => emoji.map((other) => one + other))

const urlOf = (...servers: ReadonlyArray<Server>) =>
  `postgres://postgres@${servers.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres`
const open = (url: string) => connect({ connection: { url }, poolSize: 1, statementTimeoutMs: 5000 })
const query = async <Row>(server: Server, statement: string): Promise<ReadonlyArray<Row>> => {
  const sql = open(urlOf(server))
  try {
    return (await sql.unsafe(statement)) as unknown as ReadonlyArray<Row>
  } finally {
    await sql.end({ timeout: 1 })
  }
}
const serveOn = async (...servers: ReadonlyArray<Server>) => {
  const database = { url: urlOf(...servers) }
  await prepareDatabase(database, 8000, { serves: true })
  return serve({ DATABASE_URL: database.url }, { database, peersPossible: true })
}
const ready = async (service: TestService) => (await service.call("GET", "/ready")).status

/** Writes from several clients until it is stopped. Returns what was acknowledged. */
const startLoad = (service: TestService, token: string) => {
  const acknowledged: Array<string> = []
  const failures = new Set<number>()
  let next = 0
  let isStopped = false
  const client = async () => {
    while (!isStopped) {
      const emoji_id = ids[next++ % ids.length]!
      const { status } = await service.call("POST", "/user_interests", { token, body: { emoji_id } })
      if (status === 200 || status === 201) acknowledged.push(emoji_id)
      else failures.add(status)
      await sleep(5)
    }
  }
  const clients = Promise.all(Array.from({ length: 4 }, client))
  return {
    acknowledged,
    failures,
    stop: async () => {
      isStopped = true
      await clients
    },
  }
}

describe.skipIf(!havePostgres)(
  `with a primary and a standby (needs ${packagesOf("postgres").join()})`,
  () => {
    it("the service follows a promotion, and a synchronous standby has every acknowledged write", async () => {
      const { first, second } = await startPair({ synchronous: true })
      // The standby is named first, so the service has to search.
      const service = await serveOn(second, first)
      const { token } = await service.user()
      expect(await ready(service)).toBe(200)
      const load = startLoad(service, token)
      await expect.poll(() => load.acknowledged.length).toBeGreaterThan(20)

      await first.kill()
      await expect.poll(() => ready(service)).toBe(503)
      expect((await service.call("GET", "/health")).status).toBe(200)
      const before = load.acknowledged.length
      await second.promote()
      await expect.poll(() => ready(service)).toBe(200)
      await expect.poll(() => load.acknowledged.length).toBeGreaterThan(before + 20)
      await load.stop()

      const stored = await query<{ name: string }>(second, "select canonical as name from user_interest")
      const names = new Set(stored.map(({ name }) => name))
      expect(load.acknowledged.filter((id) => !names.has(id))).toEqual([])
      expect([...load.failures].filter((status) => status !== 503)).toEqual([])

      // The old primary comes back as a primary of the older timeline. The service does not use it, also after a restart.
      await first.start()
      await first.set("synchronous_standby_names = ''")
      await findPrimary({ url: urlOf(first, second) })
      const sql = open(urlOf(first, second))
      expect(await sql`select inet_server_port() as port`).toEqual([{ port: second.port }])
      await sql.end({ timeout: 1 })
      const { status } = await service.call("POST", "/user_interests", {
        token,
        body: { emoji_id: "🚀🚀🚀" },
      })
      expect(status).toBeLessThan(300)
      expect(await query(second, "select 1 from user_interest where canonical = '🚀🚀🚀'")).toHaveLength(1)
      expect(await query(first, "select 1 from user_interest where canonical = '🚀🚀🚀'")).toEqual([])
    })
    it("an asynchronous standby can lack the last writes, and the service forgets what it remembers of them", async () => {
      const { first, second } = await startPair({ synchronous: false })
      const [service, other] = [await serveOn(first, second), await serveOn(first, second)]
      const user = await service.user()
      const { token } = user
      const put = async (at: TestService, emoji_id: string) =>
        (await at.call("POST", "/cart", { token, body: { items: [{ emoji_id }] } })).status
      const cart = async (at: TestService) => {
        const { body } = await at.call("GET", "/cart", { token })
        return (body?.order_items ?? []).map(({ emoji_id }: { emoji_id: string }) => emoji_id).sort()
      }
      expect(await put(service, "🍇🍇🍇🍇")).toBeLessThan(300)
      const [{ epoch } = { epoch: "" }] = await query<{ epoch: string }>(
        first,
        "select epoch from live_epoch",
      )
      await expect
        .poll(() => second.psql("select count(*) from entity where state::text like '%🍇🍇🍇🍇%'"))
        .toBe("1\n")
      await second.set("primary_conninfo = ''")
      await expect.poll(() => second.psql("select count(*) from pg_stat_wal_receiver")).toBe("0\n")
      const socket = await liveSocket(service.url)()
      socket.send({ type: "connect", token })
      socket.send({ type: "subscribe", channel: "cart" })
      await socket.take({ type: "subscribed" })
      expect(await put(service, "🍈🍈🍈🍈")).toBeLessThan(300)
      expect(await cart(other)).toEqual(["🍇🍇🍇🍇", "🍈🍈🍈🍈"])

      await first.kill()
      await second.promote()
      await expect.poll(() => ready(service)).toBe(200)
      // The other process continues from what is stored, with the version that the first process remembers.
      await expect.poll(() => put(other, "🍉🍉🍉🍉")).toBeLessThan(300)
      expect(await put(service, "🍊🍊🍊🍊")).toBeLessThan(300)
      expect(await cart(service)).toEqual(["🍇🍇🍇🍇", "🍉🍉🍉🍉", "🍊🍊🍊🍊"])
      // Offsets of lost events are assigned again, so subscribers get the state in a new epoch.
      await socket.take({ recovered: false })
      const [renewed] = await query<{ epoch: string }>(second, "select epoch from live_epoch")
      expect(renewed?.epoch).not.toBe(epoch)
      socket.close()
    })

    it("a standby is refused if the URL asks for the primary, and so is a former primary after a promotion", async () => {
      const { first, second } = await startPair({ synchronous: false })
      const asked = (server: Server) => ({ url: `${urlOf(server)}?target_session_attrs=read-write` })
      await findPrimary(asked(first))
      await expect(findPrimary(asked(second))).rejects.toThrow(
        `DATABASE_URL: no server is the primary: 127.0.0.1:${second.port}: is a standby`,
      )
      const sql = open(asked(second).url)
      await expect(sql`select 1`).rejects.toThrow(
        /cannot set transaction read-write mode|read-write mode must be set/,
      )
      await sql.end({ timeout: 1 })
      await expect(prepareDatabase({ url: urlOf(second) }, 8000)).rejects.toThrow(
        /standby|recovery|read-only/,
      )

      // Both servers are primaries now. The one that was promoted is used, although the other one still runs.
      const both = { url: urlOf(first, second) }
      await findPrimary(both)
      const former = open(both.url)
      expect(await former`select inet_server_port() as port`).toEqual([{ port: first.port }])
      await second.promote()
      await expect
        .poll(async () => {
          await findPrimary(both)
          return former`select 1`.catch(({ code }: { code: string }) => code)
        })
        .toBe("CONNECTION_ENDED")
      const next = open(both.url)
      expect(await next`select inet_server_port() as port`).toEqual([{ port: second.port }])
      // If the promoted server fails, the other one is not used again: it lacks what was written since.
      await second.kill()
      await expect(findPrimary(both)).rejects.toThrow(
        `127.0.0.1:${first.port}: is a primary that was superseded by a promotion`,
      )
      await Promise.all([former, next].map((one) => one.end({ timeout: 1 })))
    })
  },
)
