import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type postgres from "postgres"
import { connect } from "../../../../src/postgres/client.ts"
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../../../src/postgres/embedded/embedded.ts"
import { type Disk, makeDisk } from "./disk.ts"
import { type Link, openLink } from "./link.ts"

const restartPauseMs = 200
// The service refuses a server with the name of an embedded one, because that belongs to another service.
const settings = ["cluster_name=faults", "max_connections=300", "max_wal_size=256MB", "min_wal_size=64MB"]

/** The Postgres server of the fleet. It is started again whenever it ends. */
export interface FleetPostgres {
  /** The connection of the harness, which has no faults except those of the server. */
  readonly sql: postgres.Sql
  readonly port: number
  readonly disk: Disk
  /** Opens a link to the server for one process. */
  link(): Promise<Link>
  /** Ends the server: `immediate` without a checkpoint, so that the next start recovers; `fast` with one. */
  end(how: "immediate" | "fast"): void
  /** Whether the server is running and accepts statements. */
  isUp(): Promise<boolean>
  stop(): Promise<void>
}

export const startPostgres = async (folder: string): Promise<FleetPostgres> => {
  const disk = await makeDisk(join(folder, "database"))
  const start = () =>
    startEmbeddedPostgres({
      dataDir: disk.path,
      flags: settings.flatMap((setting) => ["-c", setting]),
    })
  let server: EmbeddedPostgres = await start()
  let isOver = false
  const target = () => ({ path: join(server.socketDir, `.s.PGSQL.${server.port}`) })
  const watched = (async () => {
    for (;;) {
      await server.exited
      if (isOver) return
      for (;;) {
        try {
          server = await start()
          break
        } catch {
          await sleep(restartPauseMs)
          if (isOver) return
        }
      }
    }
  })()
  const own = await openLink(target)
  const links = [own]
  const sql = connect({
    connection: { url: `postgres://postgres@127.0.0.1:${own.port}/postgres` },
    poolSize: 4,
    statementTimeoutMs: 60_000,
  })
  return {
    sql,
    port: own.port,
    disk,
    link: async () => {
      const link = await openLink(target)
      links.push(link)
      return link
    },
    end: (how) => {
      try {
        process.kill(server.pid, how === "immediate" ? "SIGQUIT" : "SIGINT")
      } catch {
        // The server has already ended, and is being started again.
      }
    },
    isUp: () =>
      sql`select 1`.then(
        () => true,
        () => false,
      ),
    stop: async () => {
      isOver = true
      await sql.end({ timeout: 1 })
      for (const link of links) link.close()
      await server.stop()
      await watched
      await disk.remove()
    },
  }
}
