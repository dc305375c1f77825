import { verified } from "../consistency/verified.ts"
import type { Assignment, Done, Job } from "../load/generator.ts"
import type { LoadPlan } from "../load/lane.ts"
import type { Run } from "../load/run.ts"
import type { Build } from "../process/bundle.ts"
import { startChild } from "../process/child.ts"
import { generatorProgram } from "../running-side.ts"
import type { Scenario } from "../scenario.ts"
import { service } from "../subject.ts"
import { adminEmail, adminPassword, settleDirectory, storeDirectory } from "./directory-data.ts"

const slackSeconds = 150
const environment = {
  ADMIN_EMAIL: adminEmail,
  ADMIN_PASSWORD: adminPassword,
  LIVE_MAX_SOCKETS_PER_ADDRESS: "50000",
}

/** The service of one commit, with its own database and its own load generator. */
export interface ComparedSide {
  readonly name: string
  readonly measure: (scenario: Scenario, plan: LoadPlan) => Promise<Run>
  /** Restarts the service on the same data, and then looks up every id so that all are in memory. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

export async function startComparedSide(name: string, build: () => Build): Promise<ComparedSide> {
  const server = await service(name, environment, build).start()
  const generator = startChild(generatorProgram)
  const stop = async () => {
    await generator.stop()
    await server.stop()
  }
  try {
    const data = await storeDirectory(server)
    let run = 0
    return {
      name,
      measure: async (scenario, plan) => {
        generator.send({
          type: "assignment",
          scenario: scenario.name,
          target: server.target,
          prepared: { ...data, run: ++run },
          serverPid: server.pid,
        } satisfies Assignment)
        const limitSeconds = plan.warmupSeconds + plan.durationSeconds + slackSeconds
        const done = generator.next<Done>("done", limitSeconds)
        const awake = scenario.fromMemory === true
        generator.send({ type: "job", plan: { ...plan, awake } } satisfies Job)
        return verified((await done).run, name, scenario.name)
      },
      restart: async () => {
        await server.restart?.()
        await settleDirectory(server)
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
