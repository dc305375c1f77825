import postgres, { type Sql } from "postgres"
import { startEmbeddedPostgres } from "../../src/postgres/embedded/embedded.ts"

/** More than the service needs: what a baseline can do must not end at its pool. */
export const poolSize = 8

/** A Postgres for this program alone: it starts with it and ends with it. */
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
