import type { LoadPlan } from "../load/lane.ts"
import type { Target } from "../load/request.ts"
import type { Run } from "../load/run.ts"
import { latencyOf, Tally } from "../load/tally.ts"
import { sleepSeconds } from "../load/wait.ts"
import { Window } from "../load/window.ts"
import { readUsage } from "../process/usage.ts"
import { Crowd, type CrowdPlan } from "./crowd.ts"

const joinWithinSeconds = 120
/**
 * The number of sockets that connect and disconnect before memory is read for the first time. Without them, memory
 * for compiled code would be counted as memory of sockets.
 */
const warmupSockets = 200

/** Measures how much server memory an idle socket needs. */
export async function runIdle(
  target: Target,
  plan: CrowdPlan,
  load: LoadPlan,
  serverPid: number | undefined,
): Promise<Run> {
  const tally = new Tally()
  const crowd = new Crowd(load.connections, target, plan, () => {})
  const window = new Window(serverPid)
  const first = new Crowd(Math.min(warmupSockets, load.connections), target, plan, () => {})
  try {
    await first.join(joinWithinSeconds)
    first.leave()
    await sleepSeconds(load.warmupSeconds)
    const beforeMb = serverPid === undefined ? 0 : readUsage(serverPid).rssMb
    window.open()
    await crowd.join(joinWithinSeconds)
    window.close()
    tally.completed = crowd.ready
    await sleepSeconds(load.durationSeconds)
    const run = { ...window.report(tally), latency: latencyOf(crowd.joining), errors: { ...crowd.errors } }
    if (serverPid === undefined || run.server === undefined) return run
    const { rssMb } = readUsage(serverPid)
    const socketKb = ((rssMb - beforeMb) * 1024) / Math.max(1, crowd.ready)
    return { ...run, server: { ...run.server, rssMb, socketKb } }
  } finally {
    first.leave()
    crowd.leave()
  }
}
