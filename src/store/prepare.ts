import { checkFitness } from "./fitness.ts"
import { findNewer, migrate } from "./migrate.ts"
import { type Client, connect, type DatabaseAddress } from "./sql.ts"

/** Brings a database to the newest schema, once it is sure that it can be worked with. */
export const prepareDatabase = async (
  connection: DatabaseAddress,
  statementTimeoutMs: number,
  use: {
    readonly serves?: boolean
    /** Throws where what the database holds must not be served. */
    readonly check?: (sql: Client) => Promise<void>
  } = {},
): Promise<void> => {
  const options = { connection, poolSize: 1, statementTimeoutMs }
  // One that we started is.
  if ("url" in connection) await checkFitness(options, use)
  const sql = connect(options)
  try {
    await migrate(sql)
    const newer = use.serves ? await findNewer(sql) : []
    if (newer.length > 0) {
      console.error(
        `the database was served by a newer version (${newer.join(", ")}): of the versions before it only the last may go on with it`,
      )
    }
    await use.check?.(sql)
  } finally {
    await sql.end()
  }
}
