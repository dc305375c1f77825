import { randomUUID } from "node:crypto"
import { Effect, Result } from "effect"
import { expect, it, vi } from "vitest"
import { OrderActors } from "../../actors/order.ts"
import { connect } from "../../src/postgres/client.ts"
import { serve } from "../fixtures/service.ts"
import { patiently } from "../fixtures/suite/patience.ts"

const killEveryMs = 40
const killingMs = 3000
/** The test runs until at least this many backends were killed. On a busy machine that takes longer. */
const minKills = 50
const writers = 16

it("while database backends are killed every 40 ms, no request hangs and no acknowledged turn is lost", async () => {
  const service = await serve({ POOL_SIZE: "4" })
  const killer = connect({ connection: service.database, poolSize: 1, statementTimeoutMs: 5000 })
  const [{ pid: killerPid } = { pid: 0 }] = await killer`select pg_backend_pid() as pid`
  let isKilling = true
  let kills = 0
  const kill = async () => {
    while (isKilling) {
      const rows = await killer`
        select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> ${killerPid} and backend_type = 'client backend'
         order by random() limit 1`
      kills += rows.length
      await new Promise((resolve) => setTimeout(resolve, killEveryMs))
    }
  }

  const write = async () => {
    const id = randomUUID()
    const log = { id, ok: 0, unknown: 0, http: 0 }
    const owner = randomUUID()
    const at = new Date(0).toISOString()
    const item = {
      id: randomUUID(),
      type: "EmojiId" as const,
      claim: "🚀",
      cents: 1,
      createdAt: at,
      updatedAt: at,
    }
    while (isKilling) {
      const result = await service.runtime.runPromise(
        Effect.flatMap(OrderActors, (orders) =>
          orders.send(
            id,
            { type: "add", items: [item], at },
            { create: { id, userId: owner, createdAt: at } },
          ),
        ).pipe(Effect.result),
      )
      if (Result.isSuccess(result)) log.ok++
      else {
        expect(result.failure).toMatchObject({ _tag: "Unavailable" })
        log.unknown++
      }
      const ready = await service.call("GET", "/ready")
      expect([200, 503]).toContain(ready.status)
      log.http++
    }
    return log
  }

  const killing = kill()
  const writing = Array.from({ length: writers }, write)
  await new Promise((resolve) => setTimeout(resolve, killingMs))
  await vi.waitUntil(() => kills > minKills, patiently)
  isKilling = false
  const logs = await Promise.all(writing)
  await killing
  await killer.end()

  await expect.poll(async () => (await service.call("GET", "/ready")).status).toBe(200)
  const rows = await service.sql<Array<{ id: string; version: number; items: number }>>`
    select id, version, jsonb_array_length(state->'context'->'items') as items from entity where kind = 'order'`
  const stored = new Map(rows.map((row) => [row.id, row]))
  for (const log of logs) {
    const row = stored.get(log.id)
    expect(log.ok + log.unknown).toBeGreaterThan(0)
    expect(row?.version ?? 0).toBe(row?.items ?? 0)
    expect(row?.version ?? 0).toBeGreaterThanOrEqual(log.ok)
    expect(row?.version ?? 0).toBeLessThanOrEqual(log.ok + log.unknown)
  }
})
