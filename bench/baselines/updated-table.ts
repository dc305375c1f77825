import { openDatabase, poolSize } from "./database.ts"

const rows = 10_000
const snapshot = JSON.stringify({ value: "Draft", context: { items: ["🐙", "🎉"], total: 1200 } })

/**
 * Creates a table and returns a function that updates any of its rows by the primary key. Each database connection has its
 * own client, as in the service, because a single client for all connections becomes slower over time.
 */
export async function openUpdatedTable(directory: string): Promise<() => Promise<boolean>> {
  const database = await openDatabase(directory)
  const connections = Array.from({ length: poolSize }, () => ({ client: database.connect(1), running: 0 }))
  const sql = connections[0]!.client
  await sql`create table entity (id int primary key, version int not null, snapshot jsonb not null)`
  await sql`insert into entity select n, 0, ${snapshot}::jsonb from generate_series(0, ${rows - 1}::int) n`
  await sql`vacuum analyze entity`
  return async () => {
    const id = Math.floor(Math.random() * rows)
    const connection = connections.reduce((best, one) => (one.running < best.running ? one : best))
    connection.running++
    try {
      const result =
        await connection.client`update entity set version = version + 1, snapshot = ${snapshot}::jsonb where id = ${id}`
      return result.count === 1
    } finally {
      connection.running--
    }
  }
}
