import { setTimeout as sleep } from "node:timers/promises"
import type { Build } from "../../../bench/process/bundle.ts"
import { activeFaults, type Ran, runFaults } from "./faults/run-faults.ts"
import type { Planned } from "./faults/schedule.ts"
import { type Fleet, startFleet } from "./fleet/fleet.ts"
import { OperationLog } from "./operation-log.ts"
import { judge, watchTables } from "./oracle/after-run.ts"
import { Violations } from "./violations.ts"
import { Api } from "./workload/api.ts"
import { makeWorld } from "./workload/people.ts"
import { runWorkload } from "./workload/workload.ts"

export interface HarnessOptions {
  readonly seed: number
  readonly users: number
  readonly plan: ReadonlyArray<Planned>
  readonly builds: ReadonlyArray<Build>
  /** Variables of single processes, by position. Default: the second process is a group of two workers. */
  readonly environments?: ReadonlyArray<Readonly<Record<string, string>>>
  readonly logFile: string
  readonly say: (line: string) => void
}

export interface HarnessResult {
  readonly log: OperationLog
  readonly violations: Violations
  readonly ran: ReadonlyArray<Ran>
  /** How often processes ended although no fault had ended them. */
  readonly ownExits: ReadonlyArray<string>
}

const settleMs = 2_000

/** Runs the workload with the planned faults, and then checks the invariants. */
export const runHarness = async (options: HarnessOptions): Promise<HarnessResult> => {
  const { builds, environments = [{}, { WORKERS: "2" }], logFile, plan, say, seed, users } = options
  const log = new OperationLog(logFile)
  log.note({ seed, plan })
  const violations = new Violations()
  violations.heard = (violation) => {
    log.note({ violation })
    say(`VIOLATION of ${violation.invariant} during ${violation.during}: ${violation.what}`)
  }
  const fleet: Fleet = await startFleet({ builds, environments })
  const ownExits: Array<string> = []
  for (const member of fleet.members) {
    member.ownExit = (tail) => {
      ownExits.push(
        `${member.name} during ${violations.during(performance.now())}: ${tail.trim().split("\n").at(-1)}`,
      )
      say(`an exit of ${ownExits.at(-1)}`)
    }
  }
  try {
    const api = new Api(seed, fleet.members, log, violations)
    const world = await makeWorld(api, seed, users, () => api.isOver)
    say(`${users} users, ${builds.length} processes; ${plan.length} faults are planned`)
    const ran: Array<Ran> = []
    violations.during = (since) => activeFaults(ran, since, performance.now())
    const working = Promise.all([runWorkload(world), watchTables(fleet, world)])
    await runFaults(fleet, plan, ran, say)
    fleet.heal()
    await sleep(settleMs)
    for (const member of fleet.members) await member.untilReady()
    await sleep(settleMs)
    api.isOver = true
    const [liveLogs] = await working
    say(`checking: ${api.unresolved.length} unknown operations are repeated`)
    await judge(fleet, world, liveLogs)
    return { log, violations, ran, ownExits }
  } finally {
    await fleet.stop()
    await log.close()
  }
}
