import { Effect } from "effect"
import type { Sql } from "postgres"
import { afterAll, beforeAll, expect, it } from "vitest"
import { openTransport } from "../../src/cluster/layer.ts"
import type { LeaseCall } from "../../src/cluster/lease.ts"
import { leaseStatement } from "../../src/cluster/member-store.ts"
import type { Sql as SqlService } from "../../src/postgres/sql.ts"
import { createCluster } from "./link.ts"
import { startPostgres } from "./postgres-server.ts"

let server: Awaited<ReturnType<typeof startPostgres>>
let admin: Sql
beforeAll(async () => {
  server = await startPostgres()
  admin = server.connect("admin")
  await createCluster(admin)
})
afterAll(async () => {
  await admin.end({ timeout: 1 })
  await server.stop()
})

const request = (id: string, joined = 1) => ({
  id,
  leaseMs: 2000,
  deaf: false,
  openFrom: 0,
  joined,
  held: [],
})
const call = (kind: LeaseCall, id: string, joined?: number) =>
  leaseStatement(admin, kind, request(id, joined))
const members = async () => (await admin`select id from cluster_member order by id`).map(({ id }) => id)

it("a leave that runs after the member has joined again does not delete its row", async () => {
  await call("join", "again", 1)
  await call("join", "again", 2)
  await call("leave", "again", 1)
  expect(await members()).toEqual(["again"])
  await call("leave", "again", 2)
  expect(await members()).toEqual([])
})

it.each(["watch", "join", "renew"] as const)(
  "%s shortens the leases of others after the clock of the database was set back",
  async (kind) => {
    await call("join", "dead")
    await call("join", "own")
    await admin`update cluster_member set lease_until = now() + interval '1 hour' where id = 'dead'`
    await call(kind, "own")
    const [dead] = await admin`
      select lease_until < clock_timestamp() + interval '1 minute' as short from cluster_member where id = 'dead'`
    expect(dead?.["short"]).toBe(true)
    await admin`delete from cluster_member`
  },
)

it("a join during a slow write fails without a second attempt through the pool", async () => {
  const onPool: Array<unknown> = []
  const sql = {
    once: (statement: unknown) => {
      onPool.push(statement)
      return Effect.succeed([])
    },
  } as unknown as SqlService["Service"]
  const database = { socketDir: server.directory, port: 5432, database: "postgres" }
  const { call, transport } = openTransport(
    { config: { statementTimeoutMs: 5000 } as never, database },
    sql,
    {},
  )
  const { close } = await transport.open("own", { onMessage: () => {}, onUp: () => {} })
  await admin.begin(async (write) => {
    await write`select pg_advisory_xact_lock_shared(cluster_lock())`
    await expect(call("join", request("own"))).rejects.toMatchObject({ code: "55P03" })
  })
  expect(onPool).toEqual([])
  expect((await call("join", request("own")))?.members).toEqual([])
  await close()
})
