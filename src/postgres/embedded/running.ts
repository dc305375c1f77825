import { readFileSync, realpathSync } from "node:fs"
import { join, resolve } from "node:path"
import { clusterName } from "./orphans.ts"

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

const realPath = (path: string): string | undefined => {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

export interface RunningPostgres {
  readonly socketDir: string
  readonly port: number
}

/** Returns the folder that contains the cluster, or would contain it. Undefined if the data directory does not exist. */
const findHome = (dataDir: string): string | undefined => {
  const dir = resolve(dataDir)
  return realPath(join(dir, "elsewhere")) ?? realPath(dir)
}

/** Returns the folder of the cluster of this data directory, or undefined if there is none. Creates nothing. */
export const findCluster = (dataDir: string): string | undefined => {
  const home = findHome(dataDir)
  return home === undefined ? undefined : realPath(join(home, "cluster"))
}

/**
 * Returns the socket of the server that a running service has started on this directory, or undefined if there is
 * none.
 */
export const findRunningPostgres = (dataDir: string): RunningPostgres | undefined => {
  const home = findHome(dataDir)
  if (home === undefined) return undefined
  // The lines of the server's lock file are: pid, directory, start time, port, socket directory, address, memory,
  // state.
  const lines = readText(join(home, "cluster/postmaster.pid"))?.split("\n") ?? []
  const [pid, , , port, socketDir] = lines
  if (lines[7]?.trim() !== "ready" || socketDir === undefined) return undefined
  // The lock file remains after a crash, so the process must be checked. An ended process, a zombie, or another
  // process with a reused pid does not have the cluster name in its command line.
  const isOurs = readText(`/proc/${Number(pid)}/cmdline`)?.includes(`cluster_name=${clusterName}`)
  return isOurs ? { socketDir, port: Number(port) } : undefined
}
