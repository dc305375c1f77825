import postgres, { type Sql } from "postgres"
import { startEmbeddedPostgres } from "../../src/postgres/embedded/embedded.ts"

/**
 * The number of database connections of a baseline. It is higher than in the service, so that the pool does not limit
 * a baseline.
 */
export const poolSize = 8

interface Database {
  readonly address: {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly database: string
  }
  connect(connections: number): Sql
}

/** Starts a Postgres server for this program. The server is stopped when the program gets SIGTERM. */
export async function openDatabase(directory: string): Promise<Database> {
  const server = await startEmbeddedPostgres({ dataDir: directory })
  const clients: Sql[] = []
  process.once("SIGTERM", async () => {
    await Promise.all(clients.map((sql) => sql.end({ timeout: 1 })))
    await server.stop()
    process.exit(0)
  })
  const address = {
    host: server.socketDir,
    port: server.port,
    user: "postgres",
    database: "postgres",
  }
  return {
    address,
    connect: (connections) => {
      const sql = postgres({ ...address, max: connections, onnotice: () => {} })
      clients.push(sql)
      return sql
    },
  }
}
