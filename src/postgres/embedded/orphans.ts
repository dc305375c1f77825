import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { socketPort } from "./home.ts"

/**
 * The cluster_name of servers that this service starts. A server that was started by hand on the same cluster does
 * not have it.
 */
export const clusterName = "emoji-id-directory"

const pollMs = 10

const attempt = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/**
 * Returns the pids of the Postgres processes of a cluster, found by their working directory. A zombie has no working
 * directory, so it is not included.
 */
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
  // The command line of a process that is about to end is empty. It cannot be checked, so the process is accepted.
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
    // Server processes whose postmaster has ended exit by themselves, unless one is busy with a query.
    return
  }
  for (const signal of ["SIGQUIT", "SIGKILL"] as const) {
    signalAll(findServerPids(clusterDir), signal)
    if (await waitUntilGone(clusterDir, 6_000)) return
  }
  throw new Error(`${clusterDir} is still in use by processes ${findServerPids(clusterDir).join(", ")}`)
}

/**
 * Stops the server that a dead service left behind, then removes the lock files of that server. The caller holds the
 * lock of the directory. The lock files prevent two servers on one cluster, so they are removed only after every
 * process of the old server has ended. They must be removed, because Postgres would treat the pid of a zombie, or a
 * pid that another process has now, as a running server.
 */
export const clearOrphans = async (clusterDir: string, socketDir: string): Promise<void> => {
  const pidFile = join(clusterDir, "postmaster.pid")
  await endServer(clusterDir, Number.parseInt(attempt(() => readFileSync(pidFile, "utf8")) ?? "", 10))
  const socket = join(socketDir, `.s.PGSQL.${socketPort}`)
  for (const stale of [pidFile, socket, `${socket}.lock`]) rmSync(stale, { force: true })
}
