import { parseArgs } from "node:util"
import { type AgainstFlags, againstDefaults, readAgainst } from "./against/flags.ts"
import { comparedScenarios } from "./against/scenarios.ts"
import { UsageError } from "./failure.ts"
import { readNumber } from "./flag-readers.ts"
import type { Method } from "./report/results.ts"
import type { Scenario } from "./scenario.ts"

export interface Flags {
  readonly url: URL | undefined
  readonly database: string | undefined
  readonly secretKeys: string | undefined
  readonly scenarios: readonly Scenario[]
  readonly connections: number | undefined
  readonly ratePerSecond: number | undefined
  readonly durationSeconds: number
  readonly runs: number
  readonly retakes: number
  readonly out: string
  readonly compare: string | undefined
  readonly readme: boolean
  readonly method: Method["name"]
  /** Measures with other load generators too and compares them, and does not run `scenarios`. */
  readonly crossCheck: boolean
  /** Measures the service under multiples of its capacity, and does not run `scenarios`. */
  readonly overload: boolean
  /** Measures the service with 1, 2, 4 and 8 processes, and does not run `scenarios`. */
  readonly processes: boolean
  /** Measures the service with this number of stored ids against 1,000, and does not run `scenarios`. */
  readonly ids: number | undefined
  /** Simulates a year of traffic and reports the disk space, and does not run `scenarios`. */
  readonly year: boolean
  /** Measures every GET route with 1,000 and with `rows` rows of each kind, and does not run `scenarios`. */
  readonly lists: boolean
  readonly rows: number
  /**
   * The flags of `--against`, or undefined if it is not given. With them, the bench compares the working tree with
   * another commit and does not run `scenarios`.
   */
  readonly against: AgainstFlags | undefined
}

const defaults = { durationSeconds: 1.5, runs: 3, retakes: 2 }
const quick = { durationSeconds: 0.5, runs: 1, retakes: 0 }
const published = { durationSeconds: 20, runs: 5, retakes: 2 }
const bases = { short: defaults, smoke: quick, published } as const

export const usage = (scenarios: readonly Scenario[]): string => `npm run bench -- [flags]

Measures the service and its baselines alternately under the same load. Writes a results file, plots and a table.

  --scenario NAME     scenario to run; can be repeated (default: all except those marked *)
  --url URL           measure this deployment instead of starting the service; baselines run only on the same machine
  --database URL      Postgres of that deployment, for scenarios that store data first
  --secret-keys KEYS  SECRET_KEYS of that deployment, for scenarios that sign in their own users
  --connections N     connections, or sockets in live scenarios (default: set by the scenario, usually 64)
  --rate N            open loop at N operations per second instead of peak and sweep
  --duration SECONDS  length of one measured run, without warm-up (default: ${defaults.durationSeconds})
  --runs N            measured runs of each side (default: ${defaults.runs})
  --quick             one short run of each scenario: a smoke test, not a measurement
  --publish           figures for publication: windows of at least ${published.durationSeconds} s, each with a fresh start of service and
                      database, at least ${published.runs} per figure (--duration and --runs can increase both); takes two hours
  --out DIRECTORY     directory for the results (default: bench/results)
  --compare FILE      compare with an earlier results file; exits 1 if a figure is slower or a scenario fails
  --readme            write the table to bench/README.md
  --list              list the scenarios

  --cross-check       measure lookups with wrk and autocannon too, fan-out with a client on ws, and compare
  --overload          offer 1, 3 and 10 times the measured capacity for writes, and print what is accepted
  --lists             every GET route as a user and as an administrator, with 1,000 and with a million rows of each kind
  --rows N            with --lists: rows of each kind instead of a million
  --processes         edits by eight clients and lookups, with 1, 2, 4 and 8 processes and during a rolling restart
  --ids N             store N ids; measure their disk space, and the calls against a service with 1,000 ids
  --year              simulate a year of traffic, and print the disk space with and without the regular deletions

  --against REF       compare the working tree with this commit; exits 1 if the working tree is slower
  --only NAME         with --against: scenario to run; can be repeated (default: all below)
  --pairs N           with --against: how often both services are started (default: ${againstDefaults.pairs})
  --seconds SECONDS   with --against: length of one measured run (default: ${againstDefaults.seconds})
  --help              show this text

Scenarios:
${listOf(scenarios)}

Scenarios of --against:
${listOf(comparedScenarios)}

--against includes uncommitted changes. Each pair restarts both services, each with its own database, and measures every
scenario on both. A figure is slower beyond noise if the 99.8 % confidence interval of its ratio over all pairs does not
include 1 and the ratio differs from 1 by at least 2 %. A busy machine makes the intervals wider; more --pairs make them
narrower. A comparison with the same commit (--against HEAD without changes) finds no difference.`

export const listOf = (scenarios: readonly Scenario[]): string =>
  scenarios
    .map(({ name, summary, onRequest }) => `  ${(name + (onRequest ? " *" : "")).padEnd(22)}${summary}`)
    .join("\n")

export function readFlags(args: readonly string[], scenarios: readonly Scenario[]): Flags | "help" | "list" {
  const values = parse(args)
  if (values.help) return "help"
  if (values.list) return "list"
  const method = methodOf(values)
  const basis = bases[method]
  const least = method === "published" ? published : { durationSeconds: 0.1, runs: 1 }
  const url = values.url === undefined ? undefined : readUrl(values.url)
  return {
    url,
    database: values.database,
    secretKeys: values["secret-keys"],
    scenarios: choose(values.scenario, scenarios, url),
    connections: readNumber("--connections", values.connections, 1, 50_000, true),
    ratePerSecond: readNumber("--rate", values.rate, 1, 1_000_000, true),
    durationSeconds:
      readNumber("--duration", values.duration, least.durationSeconds, 600, false) ?? basis.durationSeconds,
    runs: readNumber("--runs", values.runs, least.runs, 100, true) ?? basis.runs,
    retakes: basis.retakes,
    out: values.out ?? "bench/results",
    compare: values.compare,
    readme: values.readme,
    method,
    crossCheck: values["cross-check"],
    overload: values.overload,
    processes: values.processes,
    year: values.year,
    ids: readNumber("--ids", values.ids, 1, 100_000_000, true),
    lists: values.lists,
    rows: readNumber("--rows", values.rows, 1_000, 10_000_000, true) ?? 1_000_000,
    against: readAgainst(values, otherFlags(values), comparedScenarios),
  }
}

function methodOf({ publish, quick: isQuick, url }: ReturnType<typeof parse>): Method["name"] {
  if (!publish) return isQuick ? "smoke" : "short"
  if (isQuick) throw new UsageError("--publish cannot be combined with --quick")
  if (url !== undefined)
    throw new UsageError("--publish starts the service itself and cannot be used with --url")
  return "published"
}

/** Returns the names of the given flags that cannot be combined with `--against`. */
const otherFlags = (values: ReturnType<typeof parse>): string[] => {
  const own = ["against", "only", "pairs", "seconds"]
  return Object.entries(values)
    .filter(([name, value]) => !own.includes(name) && value !== undefined && value !== false)
    .map(([name]) => name)
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        url: { type: "string" },
        database: { type: "string" },
        "secret-keys": { type: "string" },
        scenario: { type: "string", multiple: true },
        connections: { type: "string" },
        rate: { type: "string" },
        duration: { type: "string" },
        runs: { type: "string" },
        quick: { type: "boolean", default: false },
        publish: { type: "boolean", default: false },
        "cross-check": { type: "boolean", default: false },
        overload: { type: "boolean", default: false },
        processes: { type: "boolean", default: false },
        ids: { type: "string" },
        year: { type: "boolean", default: false },
        lists: { type: "boolean", default: false },
        rows: { type: "string" },
        out: { type: "string" },
        compare: { type: "string" },
        against: { type: "string" },
        only: { type: "string", multiple: true },
        pairs: { type: "string" },
        seconds: { type: "string" },
        readme: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    throw new UsageError(text.split(/\.\s|\n/)[0] ?? text)
  }
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === "http:" || url?.protocol === "https:") return url
  throw new UsageError(`--url must be an http or https address, not "${text}"`)
}

function choose(names: readonly string[] | undefined, all: readonly Scenario[], url: URL | undefined) {
  const canUseUrl = ({ subject }: Scenario) => subject.kind === "server" && subject.isService
  if (names === undefined) return all.filter((one) => !one.onRequest && (url === undefined || canUseUrl(one)))
  return names.map((name) => {
    const scenario = all.find((one) => one.name === name)
    if (scenario === undefined) {
      throw new UsageError(
        `--scenario must be one of ${all.map((one) => one.name).join(", ")}, not "${name}"`,
      )
    }
    if (url !== undefined && !canUseUrl(scenario))
      throw new UsageError(`${name} does not measure the service and cannot be used with --url`)
    return scenario
  })
}
