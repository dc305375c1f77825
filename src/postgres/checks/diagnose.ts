import { connect, type DatabaseAddress, findPrimary } from "../client.ts"
import { followedDatabase } from "../failover/followed-database.ts"
import { findNewer } from "../schema/migrate.ts"
import { currentSchema, migrationFiles } from "../schema/sql-files.ts"
import { toConnectionProblem } from "./connection-problem.ts"
import { checkPreflight } from "./preflight.ts"

/** What an operator wants to know about the database. It is read without changing anything. */
export interface DatabaseFacts {
  readonly version: string
  readonly role: string
  readonly database: string
  readonly encoding: string
  readonly isSuperuser: boolean
  readonly mayCreateTemporary: boolean
  readonly fsync: boolean
  /** Connections that the role may open, and how many of the server are in use. */
  readonly maxConnections: number
  readonly usedConnections: number
  /** How many milliseconds the clock of the database is ahead of the clock of this machine, and how exactly this is known. */
  readonly aheadMs: number
  readonly accuracyMs: number
  /** Migrations of this version that the database does not have. All, if no service has used the database yet. */
  readonly pending: ReadonlyArray<string>
  readonly isEmpty: boolean
  /** What a newer version has added to the database. */
  readonly newer: ReadonlyArray<string>
}

interface Row {
  readonly version: string
  readonly role: string
  readonly database: string
  readonly encoding: string
  readonly is_superuser: boolean
  readonly may_create_temporary: boolean
  readonly fsync: boolean
  readonly max_connections: number
  readonly used_connections: number
  readonly has_schema: boolean
}

const readFacts = async (connection: DatabaseAddress, statementTimeoutMs: number): Promise<DatabaseFacts> => {
  const sql = connect({ connection, poolSize: 1, statementTimeoutMs })
  try {
    const [row] = await sql<[Row]>`
      select current_setting('server_version') as version, current_user as role, current_database() as database,
             current_setting('server_encoding') as encoding, current_setting('is_superuser') = 'on' as is_superuser,
             has_database_privilege(current_database(), 'temporary') as may_create_temporary,
             current_setting('fsync') = 'on' as fsync,
             current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as max_connections,
             (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used_connections,
             to_regclass('migration') is not null as has_schema`
    // The connection is open now, so this measures only one exchange.
    const sentAt = Date.now()
    const [{ now }] = await sql<[{ now: number }]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`
    const receivedAt = Date.now()
    const files = migrationFiles(currentSchema).map(({ name }) => name)
    const applied = row.has_schema ? await sql<Array<{ name: string }>>`select name from migration` : []
    const known = new Set(applied.map(({ name }) => name))
    return {
      version: row.version,
      role: row.role,
      database: row.database,
      encoding: row.encoding,
      isSuperuser: row.is_superuser,
      mayCreateTemporary: row.may_create_temporary,
      fsync: row.fsync,
      maxConnections: row.max_connections,
      usedConnections: row.used_connections,
      aheadMs: Math.round(now - (sentAt + receivedAt) / 2),
      accuracyMs: Math.ceil((receivedAt - sentAt) / 2) + 1,
      pending: files.filter((name) => !known.has(name)),
      isEmpty: !row.has_schema,
      newer: row.has_schema ? await findNewer(sql) : [],
    }
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Checks a database as a start does, without migrating it, and reads its facts. Fails with a message for the operator. */
export const diagnoseDatabase = async (
  connection: DatabaseAddress,
  statementTimeoutMs: number,
): Promise<DatabaseFacts> => {
  try {
    await findPrimary(connection)
    if ("url" in connection) await checkPreflight({ connection, poolSize: 1, statementTimeoutMs })
    return await readFacts(connection, statementTimeoutMs)
  } catch (error) {
    throw "url" in connection ? toConnectionProblem(error, followedDatabase(connection.url).current) : error
  }
}
