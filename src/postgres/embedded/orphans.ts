import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { socketPort } from "./home.ts"

/** The cluster_name of our servers. A server that was started by hand on the same cluster does not have it. */
export const clusterName = "emoji-id-directory"

const pollMs = 10

const attempt = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Finds the Postgres processes of a cluster by their working directory. A zombie has none, so it is not found. */
const findServerPids = (clusterDir: string): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && attempt(() => readlinkSync(`/proc/${name}/cwd`)) === clusterDir)
    .filter((name) => attempt(() => readFileSync(`/proc/${name}/comm`, "utf8").trim()) === "postgres")
    .map(Number)

const waitUntilGone = async (clusterDir: string, limitMs: number): Promise<boolean> => {
  for (
    const deadline = performance.now() + limitMs;
    findServerPids(clusterDir).length > 0;
    await sleep(pollMs)
  ) {
    if (performance.now() > deadline) return false
  }
  return true
}

const checkOurs = (pid: number, clusterDir: string): void => {
  const command = attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"))
  // The command of a process that is ending is empty, so it cannot be checked.
  if (command !== undefined && command !== "" && !command.includes(`cluster_name=${clusterName}`)) {
    throw new Error(
      `${clusterDir} is in use by a PostgreSQL that this service did not start (process ${pid})`,
    )
  }
}

const signalAll = (pids: ReadonlyArray<number>, signal: NodeJS.Signals): void => {
  for (const pid of pids) attempt(() => process.kill(pid, signal))
}

const endServer = async (clusterDir: string, postmaster: number): Promise<void> => {
  const pids = findServerPids(clusterDir)
  if (pids.length === 0) return
  if (pids.includes(postmaster)) {
    checkOurs(postmaster, clusterDir)
    signalAll([postmaster], "SIGINT")
    if (await waitUntilGone(clusterDir, 30_000)) return
  } else if (await waitUntilGone(clusterDir, 1_000)) {
    // Without their postmaster they exit by themselves, unless one is busy with a query.
    return
  }
  for (const signal of ["SIGQUIT", "SIGKILL"] as const) {
    signalAll(findServerPids(clusterDir), signal)
    if (await waitUntilGone(clusterDir, 6_000)) return
  }
  throw new Error(`${clusterDir} is still in use by processes ${findServerPids(clusterDir).join(", ")}`)
}

/**
 * Stops the server of a dead service, then removes its lock files. The caller holds the lock of the directory. The
 * files are removed after every process of the old server has ended, because they prevent two servers on one cluster.
 * They must be removed, because Postgres treats the pid of a zombie, or a reused pid, as a running server.
 */
export const clearOrphans = async (clusterDir: string, socketDir: string): Promise<void> => {
  const pidFile = join(clusterDir, "postmaster.pid")
  await endServer(clusterDir, Number.parseInt(attempt(() => readFileSync(pidFile, "utf8")) ?? "", 10))
  const socket = join(socketDir, `.s.PGSQL.${socketPort}`)
  for (const stale of [pidFile, socket, `${socket}.lock`]) rmSync(stale, { force: true })
}
