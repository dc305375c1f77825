import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { buildCommit, findCommit } from "../../../bench/against/checkout.ts"
import { type Build, buildService, serviceNodeFlags } from "../../../bench/process/bundle.ts"
import { removeAllDirectories } from "../../../bench/process/directory.ts"
import { migrate } from "../../../src/postgres/schema/migrate.ts"
import { makeScratch } from "../../fixtures/scratch.ts"
import { type FaultName, faultNames } from "./faults/catalog.ts"
import { type Planned, planFaults } from "./faults/schedule.ts"
import { startPostgres } from "./fleet/postgres.ts"
import { runHarness } from "./harness.ts"
import type { KeyedRow } from "./keyed/keyed-routes.ts"
import { keyedReport, runAllKeyed } from "./keyed/main.ts"
import { report } from "./report/report.ts"

/**
 * `npm run faults -- --minutes M [--seed S]`: runs a fleet of the service under load and faults, and checks the
 * invariants of docs/reliability.md. The exit code is 1 if one is violated.
 */

const usage =
  "npm run faults -- [--minutes M] [--seed S] [--users N] [--processes N] [--only FAULT,…] [--schedule FILE] [--against DIR_OR_REF] [--keyed all|none|only|TEXT] [--log FILE]"

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "2" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) },
      users: { type: "string", default: "30" },
      processes: { type: "string", default: "3" },
      only: { type: "string" },
      schedule: { type: "string" },
      against: { type: "string" },
      keyed: { type: "string", default: "all" },
      log: { type: "string" },
    },
  })
  const whole = (name: "seed" | "users" | "processes", least: number) => {
    const value = Number(values[name])
    if (!Number.isSafeInteger(value) || value < least)
      throw new Error(`--${name}: expected a whole number from ${least}`)
    return value
  }
  const minutes = Number(values.minutes)
  if (!(minutes > 0)) throw new Error("--minutes: expected a positive number")
  const only = values.only?.split(",").map((part) => {
    const found = faultNames.filter((name) => name.toLowerCase().includes(part.trim().toLowerCase()))
    if (found.length === 0)
      throw new Error(`--only: no fault is called "${part}". The faults: ${faultNames.join("; ")}`)
    return found
  })
  const seed = whole("seed", 0)
  return {
    minutes,
    seed,
    users: whole("users", 2),
    processes: whole("processes", 1),
    only: only?.flat() as ReadonlyArray<FaultName> | undefined,
    schedule: values.schedule,
    against: values.against,
    keyed: values.keyed,
    logFile: resolve(values.log ?? join(tmpdir(), `faults-${seed}.jsonl`)),
  }
}

const optionsOrExit = () => {
  try {
    return readOptions()
  } catch (error) {
    console.error(`${(error as Error).message}\nusage: ${usage}`)
    return process.exit(2)
  }
}

const startedAt = Date.now()
const say = (line: string) =>
  console.log(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}`)

/** The build of another checkout: a folder that is already built, or a commit. */
const buildOther = async (against: string): Promise<Build> => {
  const program = join(resolve(against), "dist/main.js")
  try {
    readFileSync(program)
    return { program: pathToFileURL(program), nodeFlags: [] }
  } catch {
    return buildCommit(await findCommit(against), say)
  }
}

/** Runs the keyed routes in a database of their own, without other load. */
const runKeyedRoutes = async () => {
  const folder = makeScratch()
  const postgres = await startPostgres(folder)
  try {
    await migrate(postgres.sql)
    const fits = ({ name }: KeyedRow) => ["all", "only"].includes(keyed) || name.includes(keyed)
    return await runAllKeyed(postgres, fits, say)
  } finally {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const options = optionsOrExit()
const { against, keyed, logFile, minutes, only, processes, schedule, seed, users } = options
const own: Build = { program: buildService(), nodeFlags: serviceNodeFlags() }
// The other version is the last process, so that the newest version migrates the database.
const builds = Array.from({ length: processes }, () => own)
if (against !== undefined) builds[processes - 1] = await buildOther(against)
const plan: ReadonlyArray<Planned> =
  schedule === undefined
    ? planFaults(seed, minutes, processes, only)
    : JSON.parse(readFileSync(schedule, "utf8"))
const planFile = logFile.replace(/(\.jsonl)?$/, ".schedule.json")
writeFileSync(planFile, JSON.stringify(plan, undefined, 1))
console.log(`seed ${seed}, ${minutes} minutes, log ${logFile}, schedule ${planFile}`)
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130))
let violations = 0
if (keyed !== "only") {
  const result = await runHarness({ seed, users, plan, builds, logFile, say })
  console.log(report(result, { seed, processes, users }))
  violations += result.violations.found.length
}
if (keyed !== "none") {
  say("keyed routes: a kill between commit and answer")
  const results = await runKeyedRoutes()
  console.log(keyedReport(results))
  violations += results.filter(({ faults }) => faults.length > 0).length
}
console.log(`repeat the choices of this run with --seed ${seed} --minutes ${minutes}`)
await removeAllDirectories()
process.exit(violations > 0 ? 1 : 0)
