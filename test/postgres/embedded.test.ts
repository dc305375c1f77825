import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import postgres from "postgres"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { bundleProgram } from "../../bench/process/bundle.ts"
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/postgres/embedded/embedded.ts"

const root = mkdtempSync(join(tmpdir(), "embedded-test-"))
// If root runs the tests, the server runs as another user, which must be able to enter this directory.
chmodSync(root, 0o755)
const sharedDir = join(root, "shared")
const launcher = bundleProgram(new URL("../../src/postgres/embedded/embedded.ts", import.meta.url)).href

const started: Array<EmbeddedPostgres> = []
const children: Array<ChildProcess> = []

const start = async (dataDir: string): Promise<EmbeddedPostgres> => {
  const server = await startEmbeddedPostgres({ dataDir })
  started.push(server)
  return server
}

const query = async (server: Pick<EmbeddedPostgres, "socketDir" | "port">, text: string) => {
  const { socketDir: host, port } = server
  const sql = postgres({ host, port, user: "postgres", database: "postgres", max: 1, onnotice: () => {} })
  try {
    return await sql.unsafe(text)
  } finally {
    await sql.end()
  }
}

const stat = (pid: number): ReadonlyArray<string> | undefined => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")
  } catch {
    return undefined
  }
}
// A killed process stays a zombie until its parent reads its exit status. A zombie does not count as alive.
const isAlive = (pid: number): boolean => !["Z", "X", undefined].includes(stat(pid)?.[0])
const parentOf = (pid: number): number => Number(stat(pid)?.[1])
const groupOf = (pid: number): number => Number(stat(pid)?.[2])

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await sleep(10)
}

interface Service {
  readonly process: ChildProcess
  readonly pid: number
  readonly server: Pick<EmbeddedPostgres, "socketDir" | "port" | "pid">
}

const spawnService = (dataDir: string): ChildProcess => {
  const script = `import { startEmbeddedPostgres } from ${JSON.stringify(launcher)}
    const { socketDir, port, pid } = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)} })
    console.log(JSON.stringify({ socketDir, port, pid }))
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  children.push(child)
  return child
}

const startService = async (dataDir: string): Promise<Service> => {
  const child = spawnService(dataDir)
  const [line] = await once(child.stdout!, "data")
  return { process: child, pid: child.pid!, server: JSON.parse(String(line)) }
}

const kill = async (child: ChildProcess): Promise<void> => {
  child.kill("SIGKILL")
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
}

const findWatchdog = (servicePid: number): number =>
  readdirSync("/proc")
    .map(Number)
    .find(
      (pid) =>
        parentOf(pid) === servicePid && readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("/bin/sh"),
    )!

beforeAll(async () => {
  const server = await startEmbeddedPostgres({ dataDir: sharedDir })
  await query(server, "CREATE TABLE kept (note text)")
  await server.stop()
})

afterEach(async () => {
  await Promise.all(children.splice(0).map(kill))
  await Promise.all(started.splice(0).map((server) => server.stop()))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

describe("an embedded Postgres", () => {
  it("still has its rows after a stop and a second start", async () => {
    const first = await start(sharedDir)
    await query(first, "INSERT INTO kept VALUES ('restart')")
    await first.stop()
    expect(isAlive(first.pid)).toBe(false)
    const second = await start(sharedDir)
    expect(await query(second, "SELECT note FROM kept WHERE note = 'restart'")).toHaveLength(1)
  })

  it("ends with code 0 if its stop is requested several times", async () => {
    const server = await start(sharedDir)
    await Promise.all([server.stop(), server.stop()])
    await server.stop()
    expect(await server.exited).toContain("ended with code 0")
  })

  it("makes commits durable, listens on no network address and uses UTF-8", async () => {
    const server = await start(sharedDir)
    const [row] = await query(
      server,
      `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
              current_setting('listen_addresses') AS addresses, current_setting('server_encoding') AS encoding,
              lower('ÄÖ') AS lowered`,
    )
    expect(row).toEqual({ fsync: "on", commit: "on", addresses: "", encoding: "UTF8", lowered: "äö" })
  })

  it("has default settings that the flags of the caller can override", async () => {
    const server = await startEmbeddedPostgres({
      dataDir: sharedDir,
      flags: ["-c", "work_mem=9MB", "--jit=on"],
    })
    started.push(server)
    const [row] = await query(
      server,
      "SELECT current_setting('work_mem') AS memory, current_setting('jit') AS jit",
    )
    expect(row).toEqual({ memory: "9MB", jit: "on" })
  })

  it("reports in one line why it cannot start", async () => {
    const failing = startEmbeddedPostgres({ dataDir: sharedDir, flags: ["--no_such_setting=1"] })
    await expect(failing).rejects.toThrow(/^PostgreSQL ended with code 1 .*no_such_setting.*$/)
  })

  it("runs in a separate process group, so that Ctrl-C in a terminal does not stop it", async () => {
    const server = await start(sharedDir)
    expect(groupOf(server.pid)).toBe(server.pid)
    expect(groupOf(server.pid)).not.toBe(groupOf(process.pid))
  })

  it("uses a temporary socket directory if its data path is too long, and deletes this directory when it stops", async () => {
    const dataDir = join(root, 'long, and with ünusual "characters"', "x".repeat(120))
    const server = await start(dataDir)
    expect(server.socketDir.startsWith(dataDir)).toBe(false)
    expect(statSync(server.socketDir).mode & 0o777).toBe(0o700)
    expect(await query(server, "SELECT 1 AS one")).toEqual([{ one: 1 }])
    process.kill(server.pid, "SIGKILL")
    await server.exited
    expect(existsSync(join(server.socketDir, ".s.PGSQL.5432.lock"))).toBe(true)
    const again = await start(dataDir)
    expect(again.socketDir).toBe(server.socketDir)
    expect(await query(again, "SELECT 1 AS one")).toEqual([{ one: 1 }])
    await again.stop()
    expect(existsSync(server.socketDir)).toBe(false)
  })

  it("rejects data of another major version, with an error that names both versions", async () => {
    const versionFile = join(sharedDir, "cluster/PG_VERSION")
    const version = readFileSync(versionFile, "utf8")
    writeFileSync(versionFile, "9\n")
    try {
      await expect(start(sharedDir)).rejects.toThrow(
        /created by PostgreSQL 9, but .* is PostgreSQL \d+: set PG_BIN to the programs of PostgreSQL 9;/,
      )
    } finally {
      writeFileSync(versionFile, version)
    }
  })

  it("reports the path of the binaries if they cannot be used", async () => {
    const failing = startEmbeddedPostgres({ dataDir: sharedDir, pgBin: join(root, "nowhere") })
    await expect(failing).rejects.toThrow(/^PG_BIN: no usable PostgreSQL binaries: .*nowhere.*$/)
  })
})

describe("a data directory in use", () => {
  it("is rejected by a second start in the same process, and the first server continues to run", async () => {
    const server = await start(sharedDir)
    await expect(start(sharedDir)).rejects.toThrow(
      `data directory ${sharedDir} is in use by another running service (process ${process.pid})`,
    )
    expect(await query(server, "SELECT 1 AS one")).toEqual([{ one: 1 }])
  })

  it("is rejected by a start in a second process, and the server of the first process continues to run", async () => {
    const service = await startService(sharedDir)
    await expect(start(sharedDir)).rejects.toThrow(
      `in use by another running service (process ${service.pid})`,
    )
    expect(await query(service.server, "SELECT 1 AS one")).toEqual([{ one: 1 }])
  })
})

describe("after a crash", () => {
  it("of the service, its Postgres server ends by itself, and the next start finds the committed row", async () => {
    const service = await startService(sharedDir)
    await query(service.server, "INSERT INTO kept VALUES ('service crash')")
    await kill(service.process)
    await until(() => !isAlive(service.server.pid))
    const server = await start(sharedDir)
    expect(await query(server, "SELECT note FROM kept WHERE note = 'service crash'")).toHaveLength(1)
  })

  it("of the service, an immediate restart waits until the old Postgres server has ended", async () => {
    const service = await startService(sharedDir)
    await kill(service.process)
    const server = await start(sharedDir)
    expect(isAlive(service.server.pid)).toBe(false)
    expect(await query(server, "SELECT 1 AS one")).toEqual([{ one: 1 }])
  })

  it("of service and watchdog process, the next start stops the orphaned server and finds the committed row", async () => {
    const service = await startService(sharedDir)
    await query(service.server, "INSERT INTO kept VALUES ('watchdog crash')")
    process.kill(findWatchdog(service.pid), "SIGKILL")
    await kill(service.process)
    await sleep(300)
    expect(isAlive(service.server.pid)).toBe(true)
    const server = await start(sharedDir)
    expect(isAlive(service.server.pid)).toBe(false)
    expect(await query(server, "SELECT note FROM kept WHERE note = 'watchdog crash'")).toHaveLength(1)
  })

  it("of service, watchdog process and Postgres server together, the next start recovers the committed row", async () => {
    const service = await startService(sharedDir)
    await query(service.server, "INSERT INTO kept VALUES ('total crash')")
    process.kill(findWatchdog(service.pid), "SIGKILL")
    process.kill(service.server.pid, "SIGKILL")
    await kill(service.process)
    const server = await start(sharedDir)
    expect(await query(server, "SELECT note FROM kept WHERE note = 'total crash'")).toHaveLength(1)
  })

  it("of the Postgres server alone, the process that started it is notified and can start a new server", async () => {
    const first = await start(sharedDir)
    await query(first, "INSERT INTO kept VALUES ('server crash')")
    process.kill(first.pid, "SIGKILL")
    expect(await first.exited).toContain("ended with SIGKILL")
    const second = await start(sharedDir)
    expect(await query(second, "SELECT note FROM kept WHERE note = 'server crash'")).toHaveLength(1)
  })

  it("of the Postgres server during a query, the next start waits until the old server processes have ended", async () => {
    const first = await start(sharedDir)
    const { socketDir: host, port } = first
    const sql = postgres({ host, port, user: "postgres", database: "postgres", max: 1, onnotice: () => {} })
    const [backend] = await sql<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`
    const endless = sql`DO $$ BEGIN LOOP END LOOP; END $$`.execute().catch((error: Error) => error)
    const running = `SELECT FROM pg_stat_activity WHERE pid = ${backend.pid} AND state = 'active'`
    while ((await query(first, running)).length === 0) await sleep(10)
    process.kill(first.pid, "SIGKILL")
    await first.exited
    expect(isAlive(backend.pid)).toBe(true)
    await start(sharedDir)
    expect(isAlive(backend.pid)).toBe(false)
    await sql.end({ timeout: 0 })
    expect(await endless).toBeInstanceOf(Error)
  })

  it("of the Postgres server, lock files with the pid of an unrelated process do not prevent the next start", async () => {
    const crashed = await start(sharedDir)
    const pidFile = join(sharedDir, "cluster/postmaster.pid")
    const socketLock = join(crashed.socketDir, ".s.PGSQL.5432.lock")
    process.kill(crashed.pid, "SIGKILL")
    await crashed.exited
    const { uid, gid } = statSync(join(sharedDir, "cluster"))
    const stranger = spawn("sleep", ["60"], { uid, gid, stdio: "ignore" })
    children.push(stranger)
    for (const file of [pidFile, socketLock]) {
      writeFileSync(file, readFileSync(file, "utf8").replace(/^\d+/, String(stranger.pid)))
    }
    const server = await start(sharedDir)
    expect(await query(server, "SELECT 1 AS one")).toEqual([{ one: 1 }])
    expect(isAlive(stranger.pid!)).toBe(true)
  })

  it("of the service during the first initdb, the next start creates a complete cluster", async () => {
    const dataDir = join(root, "half-made")
    const unfinished = () =>
      existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name.startsWith("cluster.initdb-")) : []
    const service = spawnService(dataDir)
    await until(() => unfinished().some((name) => existsSync(join(dataDir, name, "PG_VERSION"))))
    await kill(service)
    expect(existsSync(join(dataDir, "cluster"))).toBe(false)
    expect(unfinished()).toHaveLength(1)
    const server = await start(dataDir)
    expect(await query(server, "SELECT 1 AS one")).toEqual([{ one: 1 }])
    expect(existsSync(join(dataDir, "cluster/PG_VERSION"))).toBe(true)
  })
})

describe.runIf(process.geteuid?.() === 0)("an embedded Postgres that is started by root", () => {
  it("runs as an unprivileged user", async () => {
    const server = await start(sharedDir)
    expect(statSync(`/proc/${server.pid}`).uid).not.toBe(0)
  })

  it("stores its data in another place if a parent directory is private, and finds the data at the next start", async () => {
    const parent = join(root, "private")
    mkdirSync(parent, { mode: 0o700 })
    const dataDir = join(parent, "data")
    const first = await start(dataDir)
    const elsewhere = realpathSync(join(dataDir, "elsewhere"))
    try {
      expect(statSync(parent).mode & 0o777).toBe(0o700)
      expect(readFileSync(join(elsewhere, "belongs-to"), "utf8")).toBe(`${dataDir}\n`)
      await query(first, "CREATE TABLE marker ()")
      await first.stop()
      const second = await start(dataDir)
      expect(await query(second, "SELECT FROM marker")).toHaveLength(0)
      await second.stop()
    } finally {
      await first.stop()
      rmSync(elsewhere, { recursive: true })
    }
    await expect(start(dataDir)).rejects.toThrow("points to data that does not exist")
  })

  it("can start with a cluster directory that was copied by root", async () => {
    const server = await start(sharedDir)
    await server.stop()
    const copy = join(root, "copy")
    mkdirSync(copy)
    await once(spawn("cp", ["-R", join(sharedDir, "cluster"), copy]), "exit")
    expect(statSync(join(copy, "cluster")).uid).toBe(0)
    expect(await query(await start(copy), "SELECT count(*) > 0 AS kept FROM pg_class")).toEqual([
      { kept: true },
    ])
  })
})
