import { resolve } from "node:path"
import { getBinaries } from "./binaries.ts"
import { prepareCluster } from "./data-directory.ts"
import { prepareHome, prepareSocketDir, removeSocketDir, socketPort } from "./home.ts"
import { lockDirectory } from "./lock.ts"
import { clearOrphans } from "./orphans.ts"
import { startServer } from "./server.ts"

/**
 * A running server. Connect to it with `postgres({ host: socketDir, port, user: "postgres", database: "postgres" })`.
 */
export interface EmbeddedPostgres {
  readonly socketDir: string
  readonly port: number
  readonly pid: number
  /**
   * Resolves with the reason when the server has ended, because of `stop` or for another reason. After that, a new
   * server can be started on the same directory.
   */
  readonly exited: Promise<string>
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string
  /** A directory with the programs `postgres` and `initdb`, to use instead of the npm package for this platform. */
  readonly pgBin?: string
  /** Further arguments of the server, such as `--work_mem=8MB`. They override the arguments of this module. */
  readonly flags?: ReadonlyArray<string>
}

/**
 * Starts a PostgreSQL server on a directory. A new directory gets an empty cluster; an existing cluster is reused
 * and, after a crash, recovered.
 */
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
