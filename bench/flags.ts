import { parseArgs } from "node:util"
import { type AgainstFlags, againstDefaults, readAgainst } from "./against/flags.ts"
import { comparedScenarios } from "./against/scenarios.ts"
import { UsageError } from "./failure.ts"
import { readNumber } from "./flag-readers.ts"
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
  /** Measure against another commit instead. */
  readonly against: AgainstFlags | undefined
}

const defaults = { durationSeconds: 1.5, runs: 3, retakes: 2 }
const quick = { durationSeconds: 0.5, runs: 1, retakes: 0 }

export const usage = (scenarios: readonly Scenario[]): string => `npm run bench -- [flags]

Measures the service beside baselines that run the same load in turn, and writes a results file, plots and a table.

  --scenario NAME     which one; may be repeated (default: all but those marked *)
  --url URL           load this deployment instead of starting the service; baselines run if it is on this machine
  --database URL      that deployment's Postgres, for scenarios that store data before they measure
  --secret-keys KEYS  its SECRET_KEYS, for scenarios that sign in users of their own
  --connections N     connections, or sockets in live scenarios (default: the scenario's, mostly 64)
  --rate N            open loop at N operations per second instead of peak and sweep
  --duration SECONDS  of one measured run (default: ${defaults.durationSeconds}; warm-up comes on top)
  --runs N            measured runs of each side, taken in turn (default: ${defaults.runs})
  --quick             one short run of everything: a smoke test, not a measurement
  --out DIRECTORY     where the results go (default: bench/results)
  --compare FILE      an earlier results file: says what got slower or fails, and exits 1 if anything did
  --readme            put the table into bench/README.md
  --list              names of the scenarios

  --against REF       build this commit too and measure both in turns; exits 1 if the files as they are here are slower
  --only NAME         with --against: which scenario; may be repeated (default: all below)
  --pairs N           with --against: starts of both sides (default: ${againstDefaults.pairs})
  --seconds SECONDS   with --against: of one measured run (default: ${againstDefaults.seconds})
  --help              this text

Scenarios:
${listOf(scenarios)}

Scenarios of --against:
${listOf(comparedScenarios)}

--against works with uncommitted changes. Each pair starts both services anew, each on its own database, and measures every
scenario on both. A figure is slower beyond noise if the 99.8 % interval of its ratio over all pairs excludes 1 and the
ratio is off by at least 2 %. On a busy machine the intervals get wider; more --pairs make them narrower. Against the
same commit (--against HEAD without changes) it finds no difference.`

export const listOf = (scenarios: readonly Scenario[]): string =>
  scenarios
    .map(({ name, summary, onRequest }) => `  ${(name + (onRequest ? " *" : "")).padEnd(22)}${summary}`)
    .join("\n")

export function readFlags(args: readonly string[], scenarios: readonly Scenario[]): Flags | "help" | "list" {
  const values = parse(args)
  if (values.help) return "help"
  if (values.list) return "list"
  const basis = values.quick ? quick : defaults
  const url = values.url === undefined ? undefined : readUrl(values.url)
  return {
    url,
    database: values.database,
    secretKeys: values["secret-keys"],
    scenarios: choose(values.scenario, scenarios, url),
    connections: readNumber("--connections", values.connections, 1, 50_000, true),
    ratePerSecond: readNumber("--rate", values.rate, 1, 1_000_000, true),
    durationSeconds: readNumber("--duration", values.duration, 0.1, 600, false) ?? basis.durationSeconds,
    runs: readNumber("--runs", values.runs, 1, 100, true) ?? basis.runs,
    retakes: basis.retakes,
    out: values.out ?? "bench/results",
    compare: values.compare,
    readme: values.readme,
    against: readAgainst(values, otherFlags(values), comparedScenarios),
  }
}

/** Those that were given beside the flags of `--against`. */
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
      throw new UsageError(`${name} does not load the service, so it takes no --url`)
    return scenario
  })
}
