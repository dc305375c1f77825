import { spawn } from "node:child_process"
import { rmSync } from "node:fs"
import { parseArgs } from "node:util"
import { connect } from "../../../src/postgres/client.ts"
import { freePort } from "../../fixtures/free-port.ts"
import { startProgram, temporaryFolder } from "../../fixtures/program.ts"
import { fuzz } from "./fuzzer.ts"
import { operations } from "./operations.ts"
import { Tally } from "./tally.ts"
import { databaseOf, findDamage, targetSettings } from "./target.ts"

/**
 * `npm run fuzz -- --minutes M [--seed S] [--lanes L] [--port P]`: starts the service as in production, with its own Postgres and
 * demo data, fuzzes it for the given time, and prints a report. The exit code is 1 if anything is wrong.
 */

const leastReached = 0.9
const startMs = 120_000
const progressMs = 30_000

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "1" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 1e9)) },
      lanes: { type: "string", default: "4" },
      port: { type: "string" },
    },
  })
  const [minutes, seed, lanes] = [Number(values.minutes), Number(values.seed), Number(values.lanes)]
  if (!(minutes > 0)) throw new Error("--minutes: expected a positive number")
  if (!Number.isSafeInteger(seed)) throw new Error("--seed: expected a whole number")
  if (!(Number.isInteger(lanes) && lanes >= 1 && lanes <= 64)) throw new Error("--lanes: expected 1 to 64")
  return { minutes, seed, lanes, port: values.port }
}

const optionsOrExit = () => {
  try {
    return readOptions()
  } catch (error) {
    console.error(
      `${(error as Error).message}\nusage: npm run fuzz -- --minutes M [--seed S] [--lanes L] [--port P]`,
    )
    return process.exit(2)
  }
}
const { lanes, minutes, seed, ...given } = optionsOrExit()

/** Runs the build of `npm start`, because the program that is fuzzed must be the one of this working copy. */
const build = () =>
  new Promise<void>((resolve, reject) => {
    spawn("npm", ["run", "--silent", "build"], { stdio: "inherit" }).once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error("the build failed")),
    )
  })

await build()
const folder = temporaryFolder()
const port = given.port === undefined ? await freePort() : Number(given.port)
const { environment, facts } = targetSettings()
const program = startProgram({ ...environment, PORT: String(port), DATA_DIR: folder, LOG_LEVEL: "Warn" })
// The service must not stay behind if the fuzzer ends early.
process.once("exit", () => program.child.kill("SIGTERM"))
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130))
const tally = new Tally()
console.log(`seed ${seed}, ${minutes} minutes, ${lanes} lanes`)
try {
  await program.printed(`http://localhost:${port}`, startMs)
  const sql = connect({ connection: databaseOf(folder), poolSize: 2, statementTimeoutMs: 60_000 })
  const over = Date.now() + minutes * 60_000
  const progress = setInterval(
    () => console.log(`${tally.requests} requests, ${tally.reached} operations`),
    progressMs,
  )
  const isEnded = () => program.child.exitCode !== null || program.child.signalCode !== null
  try {
    await fuzz({ ...facts, port, sql }, tally, { seed, lanes, isOver: () => Date.now() > over || isEnded() })
    if (isEnded()) tally.violation(`the service ended: ${JSON.stringify(await program.ended)}`)
    const { status } = await fetch(`http://127.0.0.1:${port}/ready`)
    if (status !== 200) tally.violation(`the service is not ready after the run: ${status}`)
    for (const damage of await findDamage(sql)) tally.violation(`in the database: ${damage}`)
    for (const secret of facts.secrets)
      if (program.output().includes(secret)) tally.violation("the log contains a secret of the service")
    if (program.output().includes("request failed"))
      tally.violation(`the log: ${program.output().slice(-4000)}`)
  } finally {
    clearInterval(progress)
    await sql.end()
  }
} finally {
  program.child.kill("SIGTERM")
  await program.ended
  rmSync(folder, { recursive: true, force: true })
}
console.log(tally.report())
console.log(`repeat the choices of this run with --seed ${seed}`)
process.exitCode = tally.violations.length > 0 || tally.reached < leastReached * operations.size ? 1 : 0
