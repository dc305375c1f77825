import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { connect } from "../../src/store/sql.ts"
import { createDatabase } from "../fixtures/database.ts"

const turns = 300

it("a turn reads its own entity and its own journal, also by plans that were made while the tables were empty", async () => {
  const connection = await createDatabase()
  const sql = connect({ connection, poolSize: 1, statementTimeoutMs: 30_000 })
  const owner = randomUUID()
  const commit = ({ ledger, ...turn }: Record<string, unknown>) => {
    const turns = [{ kind: "order", turn: randomUUID(), ...turn }]
    return sql`select commit_turns(${JSON.stringify({ turns, ledger })}::text::jsonb)`
  }
  for (let n = 0; n < turns; n++) {
    const id = randomUUID()
    const columns = { id, state: { value: "Paid", context: {} }, owner_id: owner, status: "Paid" }
    await commit({ ...columns, expected: 0 })
    const booked = (account: string, cents: number) => ({
      order_id: id,
      account,
      cents,
      reference: `fact ${n}`,
    })
    await commit({
      ...columns,
      expected: 1,
      ledger: [booked("funds:sandbox", 100), booked("sales", -100)],
    })
    await sql`select version from entity where kind = ${"order"} and id = ${id}`
  }
  await sql`select pg_stat_force_next_flush()`
  const read = await sql<Array<{ name: string; tuples: number }>>`
    select relname as name, (coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as tuples
      from pg_stat_user_tables where relname in ('entity', 'journal', 'ledger_line')`
  // What is passed over within an index is not counted above.
  const used = await sql<Array<{ name: string }>>`
    select indexrelname as name from pg_stat_user_indexes where relname = 'entity' and idx_scan > 0`
  await sql.end()
  expect(used.map(({ name }) => name)).toEqual(["entity_pkey"])
  expect(read).toHaveLength(3)
  for (const { name, tuples } of read) expect([name, tuples <= 5 * turns]).toEqual([name, true])
})
