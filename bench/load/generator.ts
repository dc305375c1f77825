import { runFanOut } from "../crowd/fan-out.ts"
import { runIdle } from "../crowd/idle.ts"
import { runReconnectStorm } from "../crowd/reconnect-storm.ts"
import type { ChildMessage } from "../process/child.ts"
import { findScenario } from "../scenarios/registry.ts"
import { runContest } from "./contest.ts"
import { runHttpLoad } from "./http-load.ts"
import type { LoadPlan } from "./lane.ts"
import type { Target } from "./request.ts"
import type { Run } from "./run.ts"

// This program generates the load. It runs in its own process, one for each side, so that it does not use the core of
// the server.

/** Tells the generator which scenario to run on which server. It must arrive before the first job. */
export interface Assignment extends ChildMessage {
  readonly type: "assignment"
  readonly scenario: string
  readonly target: Target
  readonly prepared: unknown
  readonly serverPid: number | undefined
}

export interface Job extends ChildMessage {
  readonly type: "job"
  readonly plan: LoadPlan
}

export interface Done extends ChildMessage {
  readonly type: "done"
  readonly run: Run
}

type Perform = (plan: LoadPlan) => Promise<Run>

function take({ scenario: name, target, prepared, serverPid }: Assignment): Perform {
  const scenario = findScenario(name)
  if (scenario === undefined) throw new Error(`unknown scenario ${name}`)
  if ("fanOut" in scenario) {
    return (plan) => runFanOut(target, scenario.fanOut(target, prepared, plan.connections), plan, serverPid)
  }
  if ("reconnect" in scenario) {
    const crowd = scenario.reconnect(target, prepared)
    return (plan) => runReconnectStorm(target, crowd, plan, serverPid)
  }
  if ("idle" in scenario) {
    const crowd = scenario.idle(target, prepared)
    return (plan) => runIdle(target, crowd, plan, serverPid)
  }
  if ("contest" in scenario) {
    const contest = scenario.contest(target, prepared)
    let round = 0
    return async (plan) => {
      const { run, rounds } = await runContest(target, contest, plan, serverPid, round)
      round = rounds
      return run
    }
  }
  if (!("requests" in scenario)) throw new Error(`${name} defines no load`)
  const made = scenario.requests(target, prepared)
  const { check, statuses } = scenario
  const traffic = typeof made === "function" ? { source: made, check, statuses } : made
  return (plan) => runHttpLoad(target, traffic, plan, serverPid)
}

let perform: Perform | undefined

async function serve(message: Assignment | Job): Promise<void> {
  try {
    if (message.type === "assignment") perform = take(message)
    else if (perform === undefined) throw new Error("received a job before the assignment")
    else process.send?.({ type: "done", run: await perform(message.plan) } satisfies Done)
  } catch (error) {
    process.send?.({ type: "failed", reason: error instanceof Error ? error.message : String(error) })
  }
}

process.channel?.ref()
process.on("message", serve)
