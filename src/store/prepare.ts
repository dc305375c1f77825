import { checkFitness } from "./fitness.ts"
import { migrate } from "./migrate.ts"
import { connect, type DatabaseAddress } from "./sql.ts"

/** Brings a database to the newest schema, once it is sure that it can be worked with. */
export const prepareDatabase = async (
  connection: DatabaseAddress,
  statementTimeoutMs: number,
  use: { readonly serves?: boolean } = {},
): Promise<void> => {
  const options = { connection, poolSize: 1, statementTimeoutMs }
  // One that we started is.
  if ("url" in connection) await checkFitness(options, use)
  const sql = connect(options)
  try {
    await migrate(sql)
  } finally {
    await sql.end()
  }
}
