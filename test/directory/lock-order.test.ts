import type { Sql } from "postgres"
import { expect, it } from "vitest"
import { connect } from "../../src/postgres/client.ts"
import { sendAll, waiting } from "../fixtures/waiting.ts"
import { makeIds } from "../transfers/transfer-service.ts"
import { serveDirectory } from "./directory-service.ts"

it("an SQL statement with edits and an SQL statement with transfers of the same ids do not deadlock", async () => {
  // With this pool size, only one statement with edits runs at a time. Edits that arrive while it runs share the next
  // statement.
  const service = await serveDirectory({ POOL_SIZE: "2" })
  const [owner, other] = [await service.user(), await service.user()]
  const nextId = makeIds(70_000)
  const busy = nextId()
  const names = await service.sql<Array<{ name: string }>>`
    select name from unnest(${[nextId(), nextId(), nextId(), nextId()]}::text[]) name order by 1`
  const [first, second, third, last] = names.map(({ name }) => name) as [string, string, string, string]
  // The ids are not registered in the order of their names. Otherwise a statement could lock them in the right order by
  // chance.
  for (const id of [busy, last, second, first, third]) await service.register(id, owner)
  const open = () => connect({ connection: service.database, poolSize: 1, statementTimeoutMs: 20_000 })
  const [mover, ...holders] = [open(), open(), open()] as const
  const hold = (sql: Sql, ids: ReadonlyArray<string>, meanwhile: () => Promise<unknown>) =>
    sql.begin(async (q) => {
      await q`select 1 from emoji_id where canonical = any(${ids as never}::text[]) for update`
      await meanwhile()
    })
  const edit = (id: string) => service.edit(id, owner, { insert: [{ tag: "0x5001", data: "note" }] })
  const edits: Array<ReturnType<typeof edit>> = []
  let moving: Promise<unknown> = Promise.resolve()

  await hold(holders[0], [second, third], async () => {
    const moves = [last, second, first].map((canonical) => ({
      canonical,
      owner_id: other.id,
      pubkey: null,
      blocked_seconds: 1,
      clear_records: false,
    }))
    moving = mover`select put_moves(${JSON.stringify(moves)}::text::jsonb)`.then(
      () => "moved",
      (error: Error) => error.message,
    )
    await hold(holders[1], [busy], async () => {
      await expect.poll(() => waiting(service)).toHaveLength(1)
      edits.push(edit(busy))
      await expect.poll(() => waiting(service)).toHaveLength(2)
      edits.push(...(await sendAll(service, () => [edit(first), edit(third), edit(last)])))
    })
    // Two statements now wait for a lock: the transfer, and the one statement that runs the three edits.
    await expect.poll(() => waiting(service)).toHaveLength(2)
  })

  expect(await moving).toBe("moved")
  expect((await Promise.all(edits)).map(({ status }) => status)).toEqual([200, 403, 200, 403])
  await Promise.all([mover, ...holders].map((sql) => sql.end()))
})
