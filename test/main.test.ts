import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { connect } from "../src/postgres/client.ts"
import { freePort } from "./fixtures/free-port.ts"
import {
  isAlive,
  type Program,
  processesWith,
  runCli,
  startProgram,
  startWithNpm,
  temporaryFolder,
  workersOf,
} from "./fixtures/program.ts"

const running: Array<Program> = []
const start = (environment: Record<string, string>, flags: ReadonlyArray<string> = []) => {
  const program = startProgram({ LOG_LEVEL: "Error", ...environment }, flags)
  running.push(program)
  return program
}
const startEmpty = (environment: Record<string, string>, flags?: ReadonlyArray<string>) =>
  start({ DEMO: "false", ...environment }, flags)
afterEach(async () => {
  for (const program of running.splice(0)) {
    if (program.child.exitCode === null && program.child.signalCode === null) program.child.kill("SIGTERM")
    await program.ended
  }
})

/** A data directory for tests that can share one database. This saves the time to create a database for each test. */
const usedFolder = temporaryFolder()

/** Copies the data directory while no service runs. The copy keeps the owners of the files, as Postgres requires. */
const copyUsedFolder = () => {
  const folder = temporaryFolder()
  execFileSync("cp", ["-a", `${usedFolder}/.`, folder])
  return folder
}

const postgresPid = (dataDir: string) =>
  Number(readFileSync(join(dataDir, "postgres/cluster/postmaster.pid"), "utf8").split("\n")[0])
/** The status line of the file must be checked, because initdb creates and removes a file with the same name. */
const postgresIsReady = (dataDir: string): boolean => {
  const file = join(dataDir, "postgres/cluster/postmaster.pid")
  return existsSync(file) && readFileSync(file, "utf8").split("\n")[7]?.trim() === "ready"
}
const health = async (port: number) => (await fetch(`http://127.0.0.1:${port}/health`)).status

describe("node dist/main.js", () => {
  it("serves requests with only PORT and DATA_DIR set, prints its address, and stops its Postgres when it gets SIGTERM", async () => {
    const [port, dataDir] = [await freePort(), usedFolder]
    const program = start({ PORT: String(port), DATA_DIR: dataDir })
    await program.printed(`http://localhost:${port}`)
    expect(await health(port)).toBe(200)
    expect((await fetch(`http://127.0.0.1:${port}/ready`)).status).toBe(200)
    const pid = postgresPid(dataDir)
    expect(isAlive(pid)).toBe(true)
    program.child.kill("SIGTERM")
    expect(await program.ended).toEqual({ code: 0, signal: null })
    expect(isAlive(pid)).toBe(false)
  })

  it("creates no async_hooks resource for a waiting Effect fiber", async () => {
    const [port, dataDir] = [await freePort(), usedFolder]
    const counting = join(import.meta.dirname, "fixtures/count-fiber-contexts.mjs")
    const program = startEmpty({ PORT: String(port), DATA_DIR: dataDir }, ["--import", counting])
    await program.printed(`http://localhost:${port}`)
    expect((await fetch(`http://127.0.0.1:${port}/emoji_id/%F0%9F%9A%80`)).status).toBe(404)
    program.child.kill("SIGTERM")
    await program.ended
    expect(program.output()).toContain("async contexts kept: 0")
  })

  it("starts again with the same secret key after kill -9, and the Postgres of the killed process stops by itself", async () => {
    const [port, dataDir] = [await freePort(), copyUsedFolder()]
    const first = startEmpty({ PORT: String(port), DATA_DIR: dataDir })
    await first.printed("docs")
    const keyBefore = readFileSync(join(dataDir, "secret-key"), "utf8")
    const pid = postgresPid(dataDir)
    first.child.kill("SIGKILL")
    await first.ended
    await expect.poll(() => isAlive(pid)).toBe(false)
    const second = startEmpty({ PORT: String(port), DATA_DIR: dataDir })
    await second.printed("docs")
    expect(await health(port)).toBe(200)
    expect(readFileSync(join(dataDir, "secret-key"), "utf8")).toBe(keyBefore)
  })

  it("with WORKERS=2 serves one port from two processes, replaces a killed process, and stops both processes", async () => {
    const [port, dataDir] = [await freePort(), usedFolder]
    const program = startEmpty({ PORT: String(port), DATA_DIR: dataDir, WORKERS: "2" })
    await program.printed("docs")
    const prefixes = async () => {
      const ids = await Promise.all(
        Array.from({ length: 40 }, async () => {
          const answer = await fetch(`http://127.0.0.1:${port}/health`, { headers: { connection: "close" } })
          return answer.headers.get("x-request-id")?.split("-")[0]
        }),
      )
      return new Set(ids).size
    }
    await expect.poll(prefixes, { interval: 300 }).toBe(2)
    process.kill(workersOf(program)[0]!, "SIGKILL")
    await expect.poll(prefixes, { interval: 300 }).toBe(2)
    program.child.kill("SIGTERM")
    expect((await program.ended).code).toBe(0)
    await expect(health(port)).rejects.toThrow()
  })
})

describe("a service that was started without HOST and with POOL_SIZE=200", () => {
  const dataDir = usedFolder
  let port: number
  let program: Program
  beforeAll(async () => {
    port = await freePort()
    program = startProgram({
      ...{ PORT: String(port), DATA_DIR: dataDir, DEMO: "false", LOG_LEVEL: "Error" },
      ...{ HOST: "", POOL_SIZE: "200" },
    })
    await program.printed("docs")
  })
  afterAll(async () => {
    program.child.kill("SIGTERM")
    await program.ended
  })

  it("listens only on 127.0.0.1, and prints how to open the service to the network", async () => {
    expect(program.output()).toContain("HOST=0.0.0.0 opens it to the network")
    expect(await health(port)).toBe(200)
    // This is also an address of this machine. A server that listens on all addresses would respond here.
    await expect(fetch(`http://127.0.0.2:${port}/health`)).rejects.toThrow()
  })

  it("has configured Postgres with enough connections", async () => {
    const cluster = join(dataDir, "postgres/cluster")
    const connection = { socketDir: cluster, port: 5432, database: "postgres" }
    const sql = connect({ connection, poolSize: 1, statementTimeoutMs: 60_000 })
    const [left] =
      await sql`select current_setting('max_connections')::int - count(*)::int as free from pg_stat_activity
                               where backend_type = 'client backend'`
    expect(left?.["free"]).toBeGreaterThan(200)
    await sql.end()
  })

  it("restarts Postgres when Postgres is killed", async () => {
    process.kill(postgresPid(dataDir), "SIGKILL")
    await program.printed("postgres ended and is restarted")
    await expect
      .poll(async () => (await fetch(`http://127.0.0.1:${port}/ready`)).status, { interval: 200 })
      .toBe(200)
  })
})

describe("a production start with demo data in the database", () => {
  const dataDir = temporaryFolder()
  const production = async (environment: Record<string, string> = {}) =>
    start({ NODE_ENV: "production", PORT: String(await freePort()), DATA_DIR: dataDir, ...environment })
  const refused = /^demo data is still usable \(logins .*; 2 lootboxes\): .*"npm run cli -- demo remove".*$/

  it("fails with a one-line error, with and without workers, until `demo remove` has removed the demo data", async () => {
    const seeding = start({ PORT: String(await freePort()), DATA_DIR: dataDir })
    await seeding.printed("alice-demo-1")
    seeding.child.kill("SIGTERM")
    await seeding.ended
    for (const environment of [{}, { WORKERS: "2" }]) {
      const program = await production(environment)
      expect((await program.ended).code).toBe(1)
      expect(program.output().trim()).toMatch(refused)
    }
    const removed = await runCli(["demo", "remove"], { DATA_DIR: dataDir })
    expect(removed).toMatchObject({ code: 0, out: expect.stringContaining("admin@example.com") })
    const program = await production()
    await program.printed("docs")
  })
})

describe("npm start", () => {
  const startNpm = async (dataDir: string, more: Record<string, string>) => {
    const port = await freePort()
    const environment = { PORT: String(port), DATA_DIR: dataDir, DEMO: "false", LOG_LEVEL: "Error", ...more }
    const program = startWithNpm(environment)
    running.push(program)
    folders.push(dataDir)
    return { program, port, left: () => processesWith("DATA_DIR", dataDir) }
  }
  const folders: Array<string> = []
  // Kill the processes that a failed test did not stop.
  afterEach(() => {
    for (const pid of folders.splice(0).flatMap((folder) => processesWith("DATA_DIR", folder)))
      process.kill(pid, "SIGKILL")
  })

  it.each([
    ["SIGTERM", { WORKERS: "1" }, { code: 0, signal: null }],
    ["SIGINT", { WORKERS: "2" }, { code: 0, signal: null }],
    ["SIGHUP", { WORKERS: "1" }, { code: null, signal: "SIGHUP" }],
    ["SIGKILL", { WORKERS: "2" }, { code: null, signal: "SIGKILL" }],
  ] as const)("stops the service and its Postgres when npm gets %s (%o)", async (signal, workers, end) => {
    const dataDir = copyUsedFolder()
    const { program, port, left } = await startNpm(dataDir, workers)
    await program.printed("docs")
    expect(await health(port)).toBe(200)
    const postgres = postgresPid(dataDir)
    program.child.kill(signal)
    expect(await program.ended).toEqual(end)
    await expect.poll(left).toEqual([])
    await expect.poll(() => isAlive(postgres)).toBe(false)
    await expect(health(port)).rejects.toThrow()
  })

  it("stops a service that is still starting when npm gets SIGTERM", async () => {
    const dataDir = temporaryFolder()
    const { program, left } = await startNpm(dataDir, { WORKERS: "2" })
    await expect.poll(() => postgresIsReady(dataDir)).toBe(true)
    const postgres = postgresPid(dataDir)
    program.child.kill("SIGTERM")
    expect(await program.ended).toEqual({ code: 0, signal: null })
    await expect.poll(left).toEqual([])
    await expect.poll(() => isAlive(postgres)).toBe(false)
  })
})

describe("a startup error", () => {
  it("for an invalid setting is one line that names the setting", async () => {
    const program = startEmpty({ DATA_DIR: temporaryFolder(), PORT: "seventy" })
    expect((await program.ended).code).toBe(1)
    expect(program.output().trim()).toBe("PORT: expected a whole number from 1 to 65535")
  })
  it("for a damaged secret key is one line that names the key file", async () => {
    const dataDir = temporaryFolder()
    writeFileSync(join(dataDir, "secret-key"), "")
    const program = startEmpty({ DATA_DIR: dataDir, PORT: String(await freePort()) })
    expect((await program.ended).code).toBe(1)
    expect(program.output().trim()).toBe(
      `${dataDir}/secret-key: expected id:secret pairs, where each secret is 32 bytes in base64`,
    )
  })
  it("for a data directory that cannot be created is one line that names the directory", async () => {
    const program = startEmpty({ DATA_DIR: "/proc/directory", PORT: String(await freePort()) })
    expect((await program.ended).code).toBe(1)
    expect(program.output().trim()).toMatch(/^DATA_DIR: cannot create \/proc\/directory: .*$/)
  })
  it("for a system that cannot load the native server is one line that names a solution", async () => {
    const flags = ["--require", join(import.meta.dirname, "fixtures/old-system.cjs")]
    const program = startEmpty({ DATA_DIR: usedFolder, PORT: String(await freePort()) }, flags)
    expect((await program.ended).code).toBe(1)
    expect(program.output().trim()).toMatch(
      /^with Node \S+ uWebSockets\.js requires glibc 2\.38, .*use Node 20.*$/,
    )
    expect(existsSync(join(usedFolder, "postgres/cluster/postmaster.pid"))).toBe(false)
  })
  it("for a port that is in use names the port", async () => {
    const port = await freePort()
    const otherFolder = copyUsedFolder()
    const first = startEmpty({ PORT: String(port), DATA_DIR: usedFolder })
    await first.printed("docs")
    const second = startEmpty({ PORT: String(port), DATA_DIR: otherFolder })
    expect((await second.ended).code).toBe(1)
    expect(second.output()).toContain(`port ${port}`)
  })
  it("for a port that the workers of another service use is one line that names the port", async () => {
    const port = await freePort()
    const shared = { PORT: String(port), WORKERS: "2" }
    const otherFolder = copyUsedFolder()
    const first = startEmpty({ ...shared, DATA_DIR: usedFolder })
    await first.printed("docs")
    const second = startEmpty({ ...shared, DATA_DIR: otherFolder })
    expect((await second.ended).code).toBe(1)
    expect(second.output().trim()).toBe(
      `PORT: port ${port} of 127.0.0.1 is in use. Stop the process that uses it (ss -ltnp), or set another PORT.`,
    )
  })
})
