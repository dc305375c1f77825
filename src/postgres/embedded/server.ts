import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { Socket } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { type Home, socketPort } from "./home.ts"
import { clusterName } from "./orphans.ts"
import { serverEnvironment } from "./os-user.ts"
import { startWatchdog } from "./watchdog.ts"

const readyLimitMs = 300_000
const readyPollMs = 5
const logEndLimitMs = 200
const logTailChars = 4_096

/**
 * The signals that stop the server, each with the time to wait for its end: a fast shutdown, then an immediate one
 * (the next start recovers from the write-ahead log), then a kill.
 */
const stopSteps = [
  ["SIGINT", 60_000],
  ["SIGQUIT", 10_000],
  ["SIGKILL", 10_000],
] as const

const settings = {
  cluster_name: clusterName,
  listen_addresses: "",
  port: String(socketPort),
  unix_socket_permissions: "0700",
  // The next three settings ensure that a committed write is on disk, whatever the configuration file of the cluster
  // contains.
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "128MB",
  max_connections: "200",
  wal_buffers: "16MB",
  min_wal_size: "256MB",
  max_wal_size: "1GB",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  logging_collector: "off",
  log_destination: "stderr",
  // Only events of the server are logged. The text of a rejected statement is not logged, because it may contain a
  // secret.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
}

const endsWithin = async (event: Promise<unknown>, limitMs: number): Promise<boolean> => {
  const timer = new AbortController()
  const late = sleep(limitMs, false, { signal: timer.signal }).catch(() => false)
  const inTime = await Promise.race([event.then(() => true), late])
  timer.abort()
  return inTime
}

/**
 * Whether the server accepts connections. This is read from the eighth line of its lock file, because the contents of
 * its log depend on the log settings.
 */
const isReady = (clusterDir: string, pid: number): boolean => {
  try {
    const lines = readFileSync(join(clusterDir, "postmaster.pid"), "utf8").split("\n")
    return Number(lines[0]) === pid && lines[7]?.trim() === "ready"
  } catch {
    return false
  }
}

export interface Server {
  readonly pid: number
  readonly exited: Promise<string>
  readonly stop: () => Promise<void>
}

export interface ServerOptions extends Home {
  readonly binDir: string
  readonly socketDir: string
  readonly flags: ReadonlyArray<string>
}

/** Starts a server on a prepared cluster. Resolves when the server accepts connections. */
export const startServer = async (options: ServerOptions): Promise<Server> => {
  const { account, binDir, clusterDir, socketDir, flags } = options
  const unix_socket_directories = `"${socketDir.replaceAll('"', '""')}"`
  const args = Object.entries({ ...settings, unix_socket_directories }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ])
  const watchdog = await startWatchdog(account)
  // The server gets its own process group (`detached`). A terminal sends Ctrl-C to the whole group of this process,
  // but the shutdown of the service still needs the database.
  const server = spawn(join(binDir, "postgres"), ["-D", clusterDir, ...args, ...flags], {
    ...account,
    cwd: "/",
    env: serverEnvironment,
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  })
  if (server.pid === undefined) {
    watchdog.dismiss()
    const [error] = await once(server, "error")
    throw error
  }
  const { pid } = server
  watchdog.guard(pid)

  let log = ""
  server.stderr.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-logTailChars)
  })
  const describe = (what: string): string => [what, ...log.trim().split("\n")].join(" | ")
  // If a signal cannot be sent, Node emits an error event here. `stop` notices it anyway, because the server does not
  // end.
  server.on("error", () => {})
  const closed = new Promise<void>((settle) => server.once("close", () => settle()))
  const exited = new Promise<string>((settle) => {
    server.once("exit", async (code, signal) => {
      watchdog.dismiss()
      // The last lines of the log may still be in the pipe. The wait is limited, because a child of the server can
      // keep the pipe open.
      await endsWithin(closed, logEndLimitMs)
      settle(describe(`PostgreSQL ended with ${signal ?? `code ${code}`}`))
    })
  })

  const stop = async (): Promise<void> => {
    server.ref()
    for (const [signal, limitMs] of stopSteps) {
      server.kill(signal)
      if (await endsWithin(exited, limitMs)) return
    }
    throw new Error(describe(`PostgreSQL (process ${pid}) does not stop`))
  }

  const deadline = performance.now() + readyLimitMs
  while (!isReady(clusterDir, pid)) {
    if (await endsWithin(exited, readyPollMs)) throw new Error(await exited)
    if (performance.now() < deadline) continue
    await stop()
    throw new Error(describe(`PostgreSQL was not ready after ${readyLimitMs} ms`))
  }
  // The server must not keep this process alive. The watchdog stops the server when this process ends.
  server.unref()
  if (server.stderr instanceof Socket) server.stderr.unref()
  return { pid, exited, stop }
}
