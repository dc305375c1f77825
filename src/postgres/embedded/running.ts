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

/**
 * Returns the socket of the server that a running service has started on this directory, or undefined if there is
 * none.
 */
export const findRunningPostgres = (dataDir: string): RunningPostgres | undefined => {
  const dir = resolve(dataDir)
  const home = realPath(join(dir, "elsewhere")) ?? realPath(dir)
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
