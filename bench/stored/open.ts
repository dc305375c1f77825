import type { Sql } from "postgres"
import { connect } from "../../src/postgres/client.ts"
import { BenchFailure } from "../failure.ts"
import type { RunningServer } from "../side.ts"

/** Storing a million rows with one statement, or cleaning a table of them, takes minutes on a busy machine. */
const defaultStatementTimeoutMs = 1_800_000

/** Runs `use` with a connection to the service's database, and closes the connection afterwards. */
export async function openStored(
  server: RunningServer,
  use: (sql: Sql) => Promise<void>,
  statementTimeoutMs = defaultStatementTimeoutMs,
): Promise<void> {
  const { database } = server
  if (database === undefined)
    throw new BenchFailure("this scenario stores data first: with --url, set --database too")
  // In a database that the bench started, triggers and foreign key checks are turned off. The rows are known to be
  // valid, and checking a million rows would take most of the time.
  const trusted = "socketDir" in database ? { session_replication_role: "replica" } : {}
  const connection = { ...trusted, synchronous_commit: "off", work_mem: "256MB" }
  const sql = connect({ connection: database, poolSize: 1, statementTimeoutMs, client: { connection } })
  try {
    await use(sql)
  } finally {
    await sql.end()
  }
}

export interface MasterKey {
  readonly id: string
  readonly secret: string
}

/** Returns the secret keys of the service. Throws if they are unknown. */
export function keysOf({ secretKeys }: RunningServer): readonly MasterKey[] {
  if (secretKeys === undefined)
    throw new BenchFailure("this scenario signs in its own users: with --url, set --secret-keys too")
  return secretKeys.split(",").map((part) => {
    const colon = part.indexOf(":")
    return { id: part.slice(0, colon).trim(), secret: part.slice(colon + 1).trim() }
  })
}
