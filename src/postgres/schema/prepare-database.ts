import { toConnectionProblem } from "../checks/connection-problem.ts"
import { checkPreflight } from "../checks/preflight.ts"
import { type Client, connect, type DatabaseAddress, findPrimary } from "../client.ts"
import { followedDatabase } from "../failover/followed-database.ts"
import { followTimeline } from "../failover/primary-search.ts"
import { findNewer, migrate } from "./migrate.ts"

interface Use {
  readonly serves?: boolean
  /** A check after the migration. It throws if the content of the database must not be served. */
  readonly check?: (sql: Client) => Promise<void>
}

const prepare = async (connection: DatabaseAddress, statementTimeoutMs: number, use: Use): Promise<void> => {
  await findPrimary(connection)
  const options = { connection, poolSize: 1, statementTimeoutMs }
  // Only a database of the operator is checked. The embedded one always has the right settings.
  if ("url" in connection) await checkPreflight(options, use)
  const sql = connect(options)
  try {
    await migrate(sql)
    await followTimeline(sql)
    const newer = use.serves ? await findNewer(sql) : []
    if (newer.length > 0) {
      console.error(
        `the database was used by a newer version (${newer.join(", ")}): only the release directly before that version can still use it`,
      )
    }
    await use.check?.(sql)
  } finally {
    await sql.end()
  }
}

/**
 * Checks that the service can use the database, then migrates it to the newest schema. Fails with a message for the
 * operator.
 */
export const prepareDatabase = async (
  connection: DatabaseAddress,
  statementTimeoutMs: number,
  use: Use = {},
): Promise<void> => {
  try {
    await prepare(connection, statementTimeoutMs, use)
  } catch (error) {
    throw "url" in connection ? toConnectionProblem(error, followedDatabase(connection.url).current) : error
  }
}
