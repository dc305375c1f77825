import type { Assignment, Done, Job } from "./load/generator.ts"
import type { LoadPlan } from "./load/lane.ts"
import type { Run } from "./load/run.ts"
import { type Child, startChild } from "./process/child.ts"
import { ratiosOf } from "./report/ratio.ts"
import type { ScenarioResult, SideResult } from "./report/results.ts"
import { median } from "./report/spread.ts"
import type { Scenario } from "./scenario.ts"
import type { Side } from "./side.ts"

const generatorProgram = new URL("./load/generator.ts", import.meta.url)
const defaultConnections = 64
const firstWarmupSeconds = 1
const warmupSeconds = 0.3
const timeoutSeconds = 5
const startSeconds = 1.5
const slackSeconds = 150
/** Of the subject's own peak. Every side is measured at the same rates, so that their curves can be laid over each other. */
const defaultSweepShares = [0.25, 0.5, 0.75, 0.9]

export interface SuiteOptions {
  readonly connections?: number | undefined
  readonly ratePerSecond?: number | undefined
  readonly durationSeconds: number
  readonly runs: number
  readonly sweepShares?: readonly number[]
  /** Called before every run, with what is about to be measured. */
  readonly onStep: (step: string) => void
}

interface RunningSide {
  readonly name: string
  readonly measure: (plan: LoadPlan) => Promise<Run>
  readonly stop: () => Promise<void>
}

/** Subject and opponents stay up side by side and take turns, run by run: a noisy minute hits all of them. */
export async function measureScenario(scenario: Scenario, options: SuiteOptions): Promise<ScenarioResult> {
  const running: RunningSide[] = []
  try {
    for (const side of [scenario.subject, ...scenario.against.map((opponent) => opponent.side)]) {
      options.onStep(`${scenario.name}: starting ${side.name}`)
      running.push(await startSide(scenario, side))
    }
    const measured = running.map((side) => ({ side, peak: [] as Run[], atRate: [] as Run[] }))
    const connections = options.connections ?? scenario.connections ?? defaultConnections
    const plan = { connections, warmupSeconds, durationSeconds: options.durationSeconds, timeoutSeconds }

    const takeTurns = async (label: string, into: "peak" | "atRate", one: LoadPlan, who = measured) => {
      for (const entry of who) {
        options.onStep(`${scenario.name}: ${label}, ${entry.side.name}`)
        const isFirst = entry.peak.length + entry.atRate.length === 0
        entry[into].push(
          await entry.side.measure(isFirst ? { ...one, warmupSeconds: firstWarmupSeconds } : one),
        )
      }
    }

    const { ratePerSecond } = options
    if (ratePerSecond !== undefined) {
      for (let run = 1; run <= options.runs; run++) {
        await takeTurns(`${ratePerSecond}/s run ${run} of ${options.runs}`, "atRate", {
          ...plan,
          ratePerSecond,
        })
      }
    } else {
      for (let run = 1; run <= options.runs; run++) {
        await takeTurns(`peak run ${run} of ${options.runs}`, "peak", plan)
      }
      const peakOf = (entry: { readonly peak: readonly Run[] } | undefined) =>
        median(entry?.peak.map((run) => run.ratePerSecond) ?? [])
      for (const rate of sweepRates(scenario, peakOf(measured[0]), options.sweepShares)) {
        // Beyond a side's own peak there is only a queue to be measured.
        const able = measured.filter((entry) => peakOf(entry) >= rate)
        await takeTurns(`sweep at ${rate}/s`, "atRate", { ...plan, ratePerSecond: rate }, able)
      }
    }
    const sides = measured.map(({ side, peak, atRate }): SideResult => ({ name: side.name, peak, atRate }))
    return {
      name: scenario.name,
      summary: scenario.summary,
      connections,
      ...(scenario.stored && { stored: scenario.stored }),
      ...(scenario.rssLimitMb !== undefined && { rssLimitMb: scenario.rssLimitMb }),
      sides,
      ratios: ratiosOf(scenario, sides),
    }
  } finally {
    for (const side of running.reverse()) await side.stop()
  }
}

/** About how long it takes, for the progress line. */
export const estimateSeconds = (
  scenario: Scenario,
  options: Pick<SuiteOptions, "durationSeconds" | "runs" | "ratePerSecond">,
) => {
  const sides = 1 + scenario.against.length
  const sweeps = options.ratePerSecond === undefined ? sweepRates(scenario, 1e6).length : 0
  return (
    sides *
    (startSeconds + firstWarmupSeconds + (options.runs + sweeps) * (options.durationSeconds + warmupSeconds))
  )
}

/** Sockets have no rate of their own to sweep: a fan-out's rate counts deliveries, a storm's joins. */
const sweepRates = (
  scenario: Scenario,
  peak: number,
  shares: readonly number[] = defaultSweepShares,
): number[] =>
  "fanOut" in scenario || "reconnect" in scenario
    ? []
    : shares.map((share) => Math.floor(peak * share)).filter((rate) => rate >= 1)

async function startSide(scenario: Scenario, side: Side): Promise<RunningSide> {
  if (side.kind === "driver") {
    const driver = await side.start()
    return { name: side.name, measure: measureWith(driver), stop: driver.stop }
  }
  const server = await side.start()
  const generator = startChild(generatorProgram)
  const stop = async () => {
    await generator.stop()
    await server.stop()
  }
  try {
    const prepared = await scenario.prepare?.(server.target)
    generator.send({
      type: "assignment",
      scenario: scenario.name,
      target: server.target,
      prepared,
      serverPid: server.pid,
    } satisfies Assignment)
    return { name: side.name, measure: measureWith(generator), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const measureWith =
  (child: Child) =>
  async (plan: LoadPlan): Promise<Run> => {
    const done = child.next<Done>("done", plan.warmupSeconds + plan.durationSeconds + slackSeconds)
    child.send({ type: "job", plan } satisfies Job)
    return (await done).run
  }
