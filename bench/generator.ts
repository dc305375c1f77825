import type { Assignment, Done, Job } from "./load/generator.ts"
import type { LoadPlan } from "./load/lane.ts"
import type { Run } from "./load/run.ts"
import { type Child, startChild } from "./process/child.ts"
import { generatorProgram } from "./running-side.ts"
import type { RunningServer } from "./side.ts"

const slackSeconds = 60

/** A load generator of a mode that runs its scenarios itself, such as `--overload`. */
export const startGenerator = (server: RunningServer, scenario: string, prepared?: unknown): Child => {
  const child = startChild(generatorProgram)
  const { pid: serverPid, target } = server
  child.send({ type: "assignment", scenario, target, prepared, serverPid } satisfies Assignment)
  return child
}

export const perform = async (child: Child, plan: LoadPlan): Promise<Run> => {
  const seconds = plan.warmupSeconds + plan.durationSeconds + plan.timeoutSeconds + slackSeconds
  const done = child.next<Done>("done", seconds)
  child.send({ type: "job", plan } satisfies Job)
  return (await done).run
}
