import type postgres from "postgres"

/**
 * Tables that are no effect of a request: the keys themselves, which the run with a kill stores once more, statistics,
 * the last use of a session, and the notes of background jobs. The positions of channels are counted as events.
 */
const ignoredTables = new Set([
  ...["idempotency_key", "cluster_member", "channel", "emoji_id_view", "view_batch", "session_use"],
  ...["audit_round", "order_cleanup", "freed_id", "id_notice", "id_mail", "id_mail_turn"],
])

/** Columns that change by themselves: the delivery of mails and webhooks, and the leases of deadlines. */
const ignoredColumns = new Set([
  "updated_at",
  "sent_at",
  "tries",
  "due_at",
  "leased_until",
  "delivered_at",
  "turn",
])

type Row = Readonly<Record<string, unknown>>
export type Snapshot = ReadonlyMap<string, ReadonlyMap<string, Row>>

interface Table {
  readonly name: string
  readonly key: ReadonlyArray<string>
}

const readTables = (sql: postgres.Sql) =>
  sql<Table[]>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as key
      from pg_class c join pg_index i on i.indrelid = c.oid and i.indisprimary
      join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by c.relname`

/** Reads all rows of all tables. The database of this test is small. */
export const takeSnapshot = async (sql: postgres.Sql): Promise<Snapshot> => {
  const tables = (await readTables(sql)).filter(({ name }) => !ignoredTables.has(name))
  const keys = new Map(tables.map(({ key, name }) => [name, key]))
  const query = tables.map(({ name }) => `select '${name}' as name, to_jsonb(t) as row from "${name}" t`)
  const rows = await sql.unsafe<{ name: string; row: Row }[]>(query.join(" union all "))
  const snapshot = new Map<string, Map<string, Row>>(tables.map(({ name }) => [name, new Map()]))
  for (const { name, row } of rows)
    snapshot.get(name)!.set(JSON.stringify(keys.get(name)!.map((column) => row[column])), row)
  return snapshot
}

/** What a changed row shows of an effect: the names of the columns, and by how much numbers have changed. */
const changeOf = (before: Row, after: Row): string =>
  Object.keys(after)
    .filter((column) => !ignoredColumns.has(column))
    .filter((column) => JSON.stringify(before[column]) !== JSON.stringify(after[column]))
    .map((column) => {
      const [old, now] = [before[column], after[column]]
      return typeof old === "number" && typeof now === "number" ? `${column} ${now - old}` : column
    })
    .join(", ")

/**
 * Lists the differences of two snapshots as lines such as `api_key: +1`. Ids and times differ between two runs of the
 * same request, and are not part of the lines.
 */
export const changesBetween = (before: Snapshot, after: Snapshot): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const [name, rows] of after) {
    const known = before.get(name) ?? new Map<string, Row>()
    const added = [...rows.keys()].filter((key) => !known.has(key)).length
    const removed = [...known.keys()].filter((key) => !rows.has(key)).length
    if (added > 0) lines.push(`${name}: +${added}`)
    if (removed > 0) lines.push(`${name}: -${removed}`)
    for (const [key, row] of rows) {
      const change = known.has(key) ? changeOf(known.get(key)!, row) : ""
      if (change !== "") lines.push(`${name}: ${change}`)
    }
  }
  return lines.sort()
}
