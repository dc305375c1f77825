import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"
import type { DatabaseAddress } from "../client.ts"
import { getBinaries, type PostgresBinaries } from "./binaries.ts"
import { removeUnfinished, syncDirectory, unfinishedRestorePrefix } from "./data-directory.ts"
import { prepareHome, prepareSocketDir, removeSocketDir, socketPort } from "./home.ts"
import { lockDirectory } from "./lock.ts"
import { getAccount, runAs } from "./os-user.ts"
import { findCluster, findRunningPostgres } from "./running.ts"
import { startServer } from "./server.ts"

export interface NewCluster<A> {
  readonly dataDir: string
  readonly pgBin?: string
  /** Throws if these programs cannot run the cluster. Nothing was changed at this time. */
  readonly check: (binaries: PostgresBinaries) => void
  /** Writes the files of the cluster to an empty folder. */
  readonly fill: (folder: string) => Promise<void>
  /** Completes the data on the running server. */
  readonly complete: (address: DatabaseAddress) => Promise<A>
}

const refuseExisting = (dataDir: string): void => {
  if (findRunningPostgres(dataDir) !== undefined)
    throw new Error(
      `The service is running with this data (${dataDir}). A restore needs a DATA_DIR without a database: stop the service and move ${dataDir} away, or set another DATA_DIR.`,
    )
  const cluster = findCluster(dataDir)
  if (cluster !== undefined)
    throw new Error(
      `${cluster} contains a database, which a restore does not overwrite. Move it away (mv ${dataDir} ${dataDir}.before-restore), or set another DATA_DIR.`,
    )
}

/**
 * Creates the cluster of a data directory that has none. It is created and completed in a temporary folder and renamed at the
 * end, so an interruption leaves no cluster. A folder that a killed process has left behind is removed by the next start.
 */
export const createClusterFrom = async <A>(options: NewCluster<A>): Promise<A> => {
  const { check, complete, fill, pgBin } = options
  const dataDir = resolve(options.dataDir)
  refuseExisting(dataDir)
  const binaries = await getBinaries(pgBin, getAccount(join(dataDir, "cluster")))
  check(binaries)
  const home = await prepareHome(dataDir)
  const { account, dir } = home
  const unlock = await lockDirectory(dir, dataDir)
  let folder: string | undefined
  try {
    if (existsSync(home.clusterDir)) refuseExisting(dataDir)
    removeUnfinished(dir)
    folder = mkdtempSync(join(dir, unfinishedRestorePrefix))
    await fill(folder)
    if (account.uid !== undefined)
      await runAs({}, "chown", ["-R", "-h", `${account.uid}:${account.gid}`, folder])
    const beside = { ...home, clusterDir: folder }
    const socketDir = await prepareSocketDir(beside)
    // The server flushes all files to the disk before it recovers them.
    const server = await startServer({ ...beside, binDir: binaries.binDir, socketDir, flags: [] })
    let completed: A
    try {
      completed = await complete({ socketDir, port: socketPort, database: "postgres" })
    } finally {
      await server.stop()
      removeSocketDir(beside, socketDir)
    }
    renameSync(folder, home.clusterDir)
    syncDirectory(dir)
    return completed
  } catch (error) {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    throw error
  } finally {
    unlock()
  }
}
