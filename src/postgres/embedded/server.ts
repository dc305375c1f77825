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
const lastWordsLimitMs = 200
const logTailChars = 4_096

/** Fast, then immediate (the next start recovers from the log), then by force. */
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
  // An acknowledged write is on disk, whatever the configuration file says.
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
  // The server's own events; a refused statement is its sender's business, and its text may hold a secret.
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

/** The server writes its state on the eighth line of its lock file, whatever it may log. */
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

/** Runs a server on a prepared cluster and answers when it accepts connections. */
export const startServer = async (options: ServerOptions): Promise<Server> => {
  const { account, binDir, clusterDir, socketDir, flags } = options
  const unix_socket_directories = `"${socketDir.replaceAll('"', '""')}"`
  const args = Object.entries({ ...settings, unix_socket_directories }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ])
  const watchdog = await startWatchdog(account)
  // Detached: a terminal sends Ctrl-C to our whole group, and the database has to outlive our own shutdown.
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
  // A signal that cannot be sent is an event here; stop() notices by the server staying.
  server.on("error", () => {})
  const closed = new Promise<void>((settle) => server.once("close", () => settle()))
  const exited = new Promise<string>((settle) => {
    server.once("exit", async (code, signal) => {
      watchdog.dismiss()
      // The log's end may still be in the pipe, and a child that outlives the server can hold that open.
      await endsWithin(closed, lastWordsLimitMs)
      settle(describe(`PostgreSQL ended with ${signal ?? `code ${code}`}`))
    })
  })

  const stop = async (): Promise<void> => {
    server.ref()
    for (const [signal, limitMs] of stopSteps) {
      server.kill(signal)
      if (await endsWithin(exited, limitMs)) return
    }
    throw new Error(describe(`PostgreSQL (process ${pid}) does not end`))
  }

  const deadline = performance.now() + readyLimitMs
  while (!isReady(clusterDir, pid)) {
    if (await endsWithin(exited, readyPollMs)) throw new Error(await exited)
    if (performance.now() < deadline) continue
    await stop()
    throw new Error(describe(`PostgreSQL was not ready after ${readyLimitMs} ms`))
  }
  // A caller that is done may simply end; the watchdog sees to the server.
  server.unref()
  if (server.stderr instanceof Socket) server.stderr.unref()
  return { pid, exited, stop }
}
