import { runAgainst } from "./against/run.ts"
import { runCrossCheck } from "./cross-check/run.ts"
import { BenchFailure, UsageError, WrongAnswer } from "./failure.ts"
import { type Flags, listOf, readFlags, usage } from "./flags.ts"
import { runIds } from "./growth/ids.ts"
import { runYear } from "./growth/year.ts"
import { runLists } from "./lists/run.ts"
import { runOverload } from "./overload/run.ts"
import { stopAllChildren } from "./process/child.ts"
import { removeAllDirectories } from "./process/directory.ts"
import { reportMissing } from "./process/installed.ts"
import { runProcesses } from "./processes/run.ts"
import { compare, describe } from "./report/compare.ts"
import { newResults, readMachine, readResults, writeResults } from "./report/files.ts"
import { loadWarningOf } from "./report/introduction.ts"
import { startProgress } from "./report/progress.ts"
import { writeReadme } from "./report/readme.ts"
import type { Method, ScenarioResult } from "./report/results.ts"
import { markdownOf } from "./report/table.ts"
import type { Scenario } from "./scenario.ts"
import { scenarios } from "./scenarios/registry.ts"
import type { Side } from "./side.ts"
import { serviceAt } from "./subject.ts"
import { estimateSeconds, measureScenario } from "./suite.ts"

const args = process.argv.slice(2)

/**
 * With `--url`, returns the scenario with the given deployment as its subject. Opponents that are the service itself
 * are removed. If the deployment runs on another machine, all opponents are removed. Without `--url`, the scenario is
 * returned unchanged.
 */
function aimAt(scenario: Scenario, { url, database, secretKeys }: Flags): Scenario {
  if (url === undefined) return scenario
  const access = {
    ...(database === undefined ? {} : { database: { url: database } }),
    ...(secretKeys === undefined ? {} : { secretKeys }),
  }
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)
  const against = scenario.against.filter(({ side }) => isHere && !(side.kind === "server" && side.isService))
  return { ...scenario, subject: serviceAt(url, access), against }
}

async function measureAll(flags: Flags): Promise<ScenarioResult[]> {
  const freshStarts = flags.method === "published"
  const missing = (side: Side) => reportMissing(side, (text) => console.error(text))
  const chosen = flags.scenarios
    .map((scenario) => aimAt(scenario, flags))
    .map((one) => ({ ...one, against: one.against.filter(({ side }) => !missing(side)) }))
  const totalSeconds = chosen.reduce(
    (sum, scenario) => sum + estimateSeconds(scenario, { ...flags, freshStarts }),
    0,
  )
  const progress = startProgress(process.stderr, totalSeconds)
  try {
    const results: ScenarioResult[] = []
    for (const scenario of chosen)
      results.push(await measureScenario(scenario, { ...flags, freshStarts, onStep: progress.step }))
    return results
  } finally {
    progress.end()
  }
}

const methodOf = ({ durationSeconds, method, runs }: Flags): Method => ({
  name: method,
  windowSeconds: durationSeconds,
  windows: runs,
})

/** Returns the measurement that replaces the scenarios. */
const modeOf = (flags: Flags) => {
  const { crossCheck, ids, lists, overload, processes, rows, year } = flags
  if (crossCheck) return (onStep: (step: string) => void) => runCrossCheck(flags, onStep)
  if (year) return runYear
  if (overload) return runOverload
  if (processes) return runProcesses
  if (lists) return (onStep: (step: string) => void) => runLists(onStep, rows)
  return ids === undefined ? undefined : (onStep: (step: string) => void) => runIds(ids, onStep)
}

async function main(): Promise<number> {
  const flags = readFlags(args, scenarios)
  if (flags === "help") console.log(usage(scenarios))
  if (flags === "list") console.log(listOf(scenarios))
  if (typeof flags === "string") return 0

  if (flags.against !== undefined) {
    try {
      return await runAgainst(flags.against)
    } finally {
      await removeAllDirectories()
    }
  }
  const mode = modeOf(flags)
  if (mode !== undefined) {
    try {
      console.log(await mode((step) => console.error(step)))
      return 0
    } finally {
      await removeAllDirectories()
    }
  }
  // The earlier results are read before the measurement, so that a wrong file name fails immediately.
  const earlier = flags.compare === undefined ? undefined : await readResults(flags.compare)
  const begun = { at: new Date().toISOString(), machine: readMachine(), method: methodOf(flags) }
  const warning = loadWarningOf(begun.machine)
  if (warning !== undefined) console.error(`Warning: ${warning}`)
  const results = newResults(begun, args, await measureAll(flags))
  const written = await writeResults(flags.out, results)
  console.log(markdownOf(results))
  if (flags.readme) written.push(await writeReadme(results))
  console.log(`Written: ${written.join(" ")}`)
  if (earlier === undefined) return 0
  const comparison = compare(earlier, results)
  console.log(`\n${describe(comparison, flags.compare ?? "")}`)
  return comparison.slower.length + comparison.failing.length === 0 ? 0 : 1
}

let isInterrupted = false

async function interrupt(): Promise<void> {
  isInterrupted = true
  await stopAllChildren()
  await removeAllDirectories()
  process.exit(130)
}

process.once("SIGINT", interrupt)
process.once("SIGTERM", interrupt)

main().then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    if (isInterrupted) return
    const isUsage = error instanceof UsageError
    const hint = isUsage ? " (see --help)" : ""
    console.error(error instanceof BenchFailure ? `bench: ${error.message}${hint}` : error)
    process.exitCode = isUsage ? 2 : error instanceof WrongAnswer ? 3 : 1
  },
)
