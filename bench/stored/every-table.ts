import type { Sql } from "postgres"
import type { RunningServer } from "../side.ts"
import { adminNumber, creators, entityIdAt, storeEntities } from "./entities.ts"
import { bitcoin, storeIds, webPage } from "./ids.ts"
import { keysOf, openStored } from "./open.ts"
import { emailAt, storePeople, userIdAt } from "./people.ts"
import { accountRows } from "./tables/account-rows.ts"
import type { Keys } from "./tables/rows.ts"
import { directoryRows, shopRows } from "./tables/shop-rows.ts"
import { smallTables } from "./tables/small-tables.ts"

const rowsOf = { ...accountRows, ...shopRows, ...directoryRows }
const storedApart = ["app_user", "claim", "emoji_id", "record", "entity"]

export const organizationIdAt = (n: number): string =>
  `20000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`

/** The tables that get `rows` rows, or a small multiple of it. */
export const largeTables: readonly string[] = [...storedApart, ...Object.keys(rowsOf)]

const idSql = (idAt: (n: number) => string): string =>
  `('${idAt(0).slice(0, 24)}' || lpad(to_hex(n), 12, '0'))::uuid`

/** Returns the tables of the database that are neither stored here nor known to be small. */
export const unknownTables = async (sql: Sql): Promise<readonly string[]> => {
  const tables = await sql<Array<{ name: string }>>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 1`
  return tables
    .map(({ name }) => name)
    .filter((name) => !largeTables.includes(name) && !(name in smallTables))
}

/**
 * Stores `rows` rows in every table that can grow. Row n belongs to user n, so a user has as many rows in a large
 * database as in a small one.
 */
export async function storeEveryTable(server: RunningServer, rows: number): Promise<void> {
  const keys: Keys = {
    user: idSql(userIdAt),
    order: idSql(entityIdAt),
    organization: idSql(organizationIdAt),
    masterKey: keysOf(server)[0]?.id ?? "",
  }
  await openStored(server, async (sql) => {
    await storePeople(sql, creators)
    await sql`update app_user set free_limit = 3 where id = ${userIdAt(0)}`
    await sql`insert into app_user (id, email, email_verified_at, role)
              values (${userIdAt(adminNumber)}, ${emailAt(adminNumber)}, now(), 'Admin') on conflict do nothing`
    await sql`insert into feature (code) select 'bench-' || n from generate_series(1, 50) n on conflict do nothing`
  })
  await storeEntities(server, rows)
  await openStored(server, async (sql) => {
    await storePeople(sql, rows)
    await storeIds(sql, {
      ids: rows,
      owners: rows,
      records: [webPage, bitcoin],
      source: "order:bench",
      hasPubkeys: true,
    })
    for (const [table, columnsAndRows] of Object.entries(rowsOf)) {
      await sql.unsafe(
        `with n as (select n from generate_series(0, ${rows - 1}::int) n) insert into ${table} ${columnsAndRows(keys)}`,
      )
    }
    await sql`vacuum (analyze)`
  })
}
