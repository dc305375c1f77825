import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { connect } from "../src/postgres/client.ts"
import { startWorkers } from "../src/workers.ts"
import { freePort } from "./fixtures/free-port.ts"
import { startProgram, temporaryFolder, workersOf } from "./fixtures/program.ts"
import { patiently } from "./fixtures/suite/patience.ts"

/** A program that records its start, and fails to start while the file `broken` exists. */
const program = `
  import { appendFileSync, existsSync } from "node:fs"
  import { join } from "node:path"
  const note = (name) => appendFileSync(join(import.meta.dirname, name), process.pid + "\\n")
  note("starts")
  if (existsSync(join(import.meta.dirname, "broken"))) process.exit(1)
  process.on("disconnect", () => process.exit(0))
  process.send("ready", () => note("ready"))
`

it("a killed worker is replaced, even if the first replacements fail to start", async () => {
  const folder = mkdtempSync(join(tmpdir(), "directory-workers-"))
  const file = (name: string) => join(folder, name)
  const pids = (name: string) => readFileSync(file(name), "utf8").trim().split("\n").map(Number)
  writeFileSync(file("program.mjs"), program)
  const workers = await startWorkers(2, file("program.mjs"), { url: "" }, process.env)
  try {
    await expect.poll(() => pids("ready").length, patiently).toBe(2)
    writeFileSync(file("broken"), "")
    process.kill(pids("ready")[0]!, "SIGKILL")
    await expect.poll(() => pids("starts").length, patiently).toBeGreaterThan(4)
    rmSync(file("broken"))
    await expect.poll(() => pids("ready").length, patiently).toBe(3)
  } finally {
    await workers.stop(10_000)
    rmSync(folder, { recursive: true })
  }
})

it("stopping the workers also ends a worker that is suspended", async () => {
  const folder = mkdtempSync(join(tmpdir(), "directory-workers-"))
  writeFileSync(join(folder, "program.mjs"), program)
  const workers = await startWorkers(2, join(folder, "program.mjs"), { url: "" }, process.env)
  const starts = readFileSync(join(folder, "starts"), "utf8").trim().split("\n").map(Number)
  process.kill(starts[0]!, "SIGSTOP")
  await workers.stop(500)
  for (const pid of starts) expect(() => process.kill(pid, 0)).toThrow("ESRCH")
  rmSync(folder, { recursive: true })
})

it("a new worker migrates the database if a SQL function file has changed since its parent process started", async () => {
  const [port, dataDir] = [await freePort(), temporaryFolder()]
  const service = startProgram({ PORT: String(port), DATA_DIR: dataDir, DEMO: "false", WORKERS: "2" })
  await service.printed("docs")
  const connection = { socketDir: join(dataDir, "postgres/cluster"), port: 5432, database: "postgres" }
  const sql = connect({ connection, poolSize: 1, statementTimeoutMs: 8000 })
  // Simulates a database of the previous version: a function is missing, and its file counts as changed.
  await sql`drop function edit_batch(jsonb, int)`
  await sql`update function_file set sha256 = '' where name = 'functions/directory.sql'`
  process.kill(workersOf(service)[0]!, "SIGKILL")
  const functions = async () => (await sql`select 1 from pg_proc where proname = 'edit_batch'`).length
  await expect.poll(functions, patiently).toBe(1)
  await sql.end()
  service.child.kill("SIGTERM")
  await service.ended
})
