import { verified } from "./consistency/verified.ts"
import type { Assignment, Done, Job } from "./load/generator.ts"
import type { LoadPlan } from "./load/lane.ts"
import type { Run } from "./load/run.ts"
import { type Child, startChild } from "./process/child.ts"
import type { Scenario } from "./scenario.ts"
import type { Side } from "./side.ts"

export const generatorProgram = new URL("./load/generator.ts", import.meta.url)
const slackSeconds = 150

/**
 * A started side of a scenario with its load generator. A side is the measured service or a program that it is
 * compared with.
 */
export interface RunningSide {
  readonly name: string
  readonly lacks?: string | undefined
  readonly measure: (plan: LoadPlan) => Promise<Run>
  /** Restarts the server on the same data. Undefined if the side cannot be restarted. */
  readonly renew?: (() => Promise<void>) | undefined
  readonly stop: () => Promise<void>
}

export async function startSide(scenario: Scenario, side: Side): Promise<RunningSide> {
  if (side.kind === "driver") {
    const driver = await side.start()
    return { ...labelOf(side), measure: measureWith(scenario, side, driver), stop: driver.stop }
  }
  const server = await side.start()
  const generator = startChild(generatorProgram)
  const stop = async () => {
    await generator.stop()
    await server.stop()
  }
  try {
    const prepared = side.isService ? await scenario.prepare?.(server) : undefined
    const begin = async () => {
      if (side.isService) await scenario.settle?.(server)
      generator.send({
        type: "assignment",
        scenario: scenario.name,
        target: server.target,
        prepared,
        serverPid: server.pid,
      } satisfies Assignment)
    }
    await begin()
    const { restart } = server
    const renew =
      restart &&
      (async () => {
        await restart()
        await begin()
      })
    const measure = measureWith(scenario, side, generator)
    const awake = scenario.fromMemory === true && side.usesDatabase !== true
    return { ...labelOf(side), measure: (plan) => measure({ ...plan, awake }), renew, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const labelOf = ({ lacks, name }: Side) => ({ name, ...(lacks !== undefined && { lacks }) })

const measureWith =
  (scenario: Scenario, side: Side, child: Child) =>
  async (plan: LoadPlan): Promise<Run> => {
    const done = child.next<Done>("done", plan.warmupSeconds + plan.durationSeconds + slackSeconds)
    child.send({ type: "job", plan } satisfies Job)
    return verified((await done).run, side.name, scenario.name)
  }
