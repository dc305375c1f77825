import { resolve } from "node:path"
import { getBinaries } from "./binaries.ts"
import { prepareCluster } from "./data-directory.ts"
import { prepareHome, prepareSocketDir, removeSocketDir, socketPort } from "./home.ts"
import { lockDirectory } from "./lock.ts"
import { clearOrphans } from "./orphans.ts"
import { startServer } from "./server.ts"

/** Connect with `postgres({ host: socketDir, port, user: "postgres", database: "postgres" })`. */
export interface EmbeddedPostgres {
  readonly socketDir: string
  readonly port: number
  readonly pid: number
  /**
   * Resolves with the reason when the server has ended, by a stop or by itself. The directory can then be started
   * again.
   */
  readonly exited: Promise<string>
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string
  /** A directory with `postgres` and `initdb` to use instead of the platform package. */
  readonly pgBin?: string
  /** Further arguments of the server, such as `--work_mem=8MB`. They override ours. */
  readonly flags?: ReadonlyArray<string>
}

/** Starts a PostgreSQL server on a directory. The directory is created, recovered or reused. */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const { dataDir, pgBin, flags = [] } = options
  const home = await prepareHome(resolve(dataDir))
  const unlock = await lockDirectory(home.dir, dataDir)
  try {
    const binaries = await getBinaries(pgBin, home.account)
    await prepareCluster(home, binaries)
    const socketDir = await prepareSocketDir(home)
    await clearOrphans(home.clusterDir, socketDir)
    const server = await startServer({ ...home, binDir: binaries.binDir, socketDir, flags })
    const exited = server.exited.then((reason) => {
      removeSocketDir(home, socketDir)
      unlock()
      return reason
    })
    const stop = async (): Promise<void> => {
      await server.stop()
      await exited
    }
    return { socketDir, port: socketPort, pid: server.pid, exited, stop }
  } catch (error) {
    unlock()
    throw error
  }
}
