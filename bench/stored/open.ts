import type { Sql } from "postgres"
import { connect } from "../../src/postgres/sql.ts"
import { BenchFailure } from "../failure.ts"
import type { RunningServer } from "../side.ts"

const statementTimeoutMs = 300_000

/** Hands over a connection to the service's data for as long as `use` runs. */
export async function openStored(server: RunningServer, use: (sql: Sql) => Promise<void>): Promise<void> {
  const { database } = server
  if (database === undefined)
    throw new BenchFailure("this scenario stores data first: with --url it needs --database as well")
  // On a server of our own the rows are right by construction, and checking a million of them is most of the work.
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

/** What the service signs with. */
export function keysOf({ secretKeys }: RunningServer): readonly MasterKey[] {
  if (secretKeys === undefined)
    throw new BenchFailure("this scenario signs in its own users: with --url it needs --secret-keys as well")
  return secretKeys.split(",").map((part) => {
    const colon = part.indexOf(":")
    return { id: part.slice(0, colon).trim(), secret: part.slice(colon + 1).trim() }
  })
}
