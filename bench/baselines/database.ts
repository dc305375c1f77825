import postgres, { type Sql } from "postgres"
import { startEmbeddedPostgres } from "../../src/postgres/embedded/embedded.ts"

/**
 * The number of database connections of a baseline. It is higher than in the service, so that the pool does not limit
 * a baseline.
 */
export const poolSize = 8

/** Starts a Postgres server for this program. The server is stopped when the program gets SIGTERM. */
export async function openDatabase(directory: string): Promise<{ connect(connections: number): Sql }> {
  const server = await startEmbeddedPostgres({ dataDir: directory })
  const clients: Sql[] = []
  process.once("SIGTERM", async () => {
    await Promise.all(clients.map((sql) => sql.end({ timeout: 1 })))
    await server.stop()
    process.exit(0)
  })
  return {
    connect: (connections) => {
      const sql = postgres({
        host: server.socketDir,
        port: server.port,
        user: "postgres",
        database: "postgres",
        max: connections,
        onnotice: () => {},
      })
      clients.push(sql)
      return sql
    },
  }
}
