import { isInstalled } from "../process/installed.ts"
import { readMachine } from "../report/files.ts"
import { fixed, tableOf, withSpread } from "../report/format.ts"
import { loadWarningOf } from "../report/introduction.ts"
import { median, spreadOf } from "../report/spread.ts"
import { barePublish, bareUws, liveCommits, type ServerSide } from "../side.ts"
import { service } from "../subject.ts"
import { fanOutGenerators, type Generator, lookupGenerators } from "./generators.ts"
import type { Measured } from "./measured.ts"
import { crossCheckLookups } from "./scenario.ts"

const shortestSeconds = 2

interface Part {
  readonly load: string
  readonly side: ServerSide
  readonly generators: readonly Generator[]
}

const parts: readonly Part[] = [
  { load: "lookups", side: bareUws(), generators: lookupGenerators },
  { load: "lookups", side: service(), generators: lookupGenerators },
  { load: "fan-out", side: barePublish(), generators: fanOutGenerators },
  { load: "fan-out", side: liveCommits(), generators: fanOutGenerators },
]

export interface CrossChecked {
  readonly load: string
  readonly server: string
  readonly generator: string
  readonly results: readonly Measured[]
}

/** Measures the same servers with the generator of the bench and with others, and returns the comparison as text. */
export async function runCrossCheck(
  { durationSeconds, runs }: { readonly durationSeconds: number; readonly runs: number },
  onStep: (step: string) => void,
): Promise<string> {
  const machine = readMachine()
  const seconds = Math.max(shortestSeconds, Math.ceil(durationSeconds))
  const checked: CrossChecked[] = []
  for (const part of parts) checked.push(...(await measurePart(part, seconds, runs, onStep)))
  const warning = loadWarningOf(machine)
  const missing = [...new Set(parts.flatMap(({ generators }) => generators))].filter(isMissing)
  return [
    `${runs} windows of ${seconds} s per generator, in turns, on ${machine.cores} cores (${machine.cpu}).`,
    ...(warning === undefined ? [] : [`Warning: ${warning}`]),
    ...missing.map(
      ({ name, needs }) =>
        `${name} is not installed, so its rows are missing (Debian: apt-get install ${needs})`,
    ),
    "",
    ...crossCheckTable(checked),
    "",
    "The generators share the cores with the server. A generator that needs more CPU time leaves less to the server, so",
    "rates and latencies differ. The CPU time of the server per operation should not.",
  ].join("\n")
}

const isMissing = ({ needs }: Generator): boolean => needs !== undefined && !isInstalled(needs)

async function measurePart(
  { generators, load, side }: Part,
  seconds: number,
  runs: number,
  onStep: (step: string) => void,
): Promise<readonly CrossChecked[]> {
  const usable = generators.filter((generator) => !isMissing(generator))
  const results = usable.map((): Measured[] => [])
  onStep(`${load}: starting ${side.name}`)
  const server = await side.start()
  try {
    if (side.isService && load === "lookups") await crossCheckLookups.prepare?.(server)
    for (let run = 1; run <= runs; run++) {
      for (const [i, generator] of usable.entries()) {
        onStep(`${load}: ${side.name}, run ${run} of ${runs}, ${generator.name}`)
        results[i]!.push(await generator.measure(server, seconds))
      }
    }
  } finally {
    await server.stop()
  }
  return usable.map(({ name }, i) => ({ load, server: side.name, generator: name, results: results[i]! }))
}

/** The first row of each server is the bench itself. The other rows are compared with it. */
export function crossCheckTable(checked: readonly CrossChecked[]): string[] {
  const header = ["load", "server", "generator", "per second", "of ours", "p50 ms", "p99 ms"]
  const rows = checked.map(({ generator, load, results, server }) => {
    const ours = checked.find((one) => one.load === load && one.server === server)?.results ?? []
    const over = (pick: (one: Measured) => number | undefined, digits: number) => {
      const values = results.flatMap((one) => pick(one) ?? [])
      return values.length === 0 ? "" : withSpread(spreadOf(values), digits)
    }
    const ofOurs = (pick: (one: Measured) => number | undefined) => {
      const [mine, other] = [ours, results].map((list) => median(list.flatMap((one) => pick(one) ?? [])))
      return mine === 0 ? "" : fixed(other! / mine!, 2)
    }
    return [
      load,
      server,
      generator,
      over((one) => one.ratePerSecond, 0),
      ofOurs((one) => one.ratePerSecond),
      over((one) => one.p50Ms, 2),
      over((one) => one.p99Ms, 2),
      over((one) => one.cpuMicros, 1),
      ofOurs((one) => one.cpuMicros),
      fixed(
        results.reduce((sum, one) => sum + one.errors, 0),
        0,
      ),
    ]
  })
  return tableOf([...header, "server CPU µs/op", "of ours", "errors"], rows)
}
