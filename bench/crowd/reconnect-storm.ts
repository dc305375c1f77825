import type { LoadPlan } from "../load/lane.ts"
import type { Target } from "../load/request.ts"
import type { Run } from "../load/run.ts"
import { latencyOf, Tally } from "../load/tally.ts"
import { Window } from "../load/window.ts"
import { Crowd, type CrowdPlan } from "./crowd.ts"

const joinWithinSeconds = 60

/**
 * Repeatedly disconnects all sockets and reconnects them at the same time. Measures the rate and the duration of the
 * connection attempts.
 */
export async function runReconnectStorm(
  target: Target,
  plan: CrowdPlan,
  load: LoadPlan,
  serverPid: number | undefined,
): Promise<Run> {
  const tally = new Tally()
  const crowd = new Crowd(load.connections, target, plan, () => {})
  const window = new Window(serverPid)
  try {
    await crowd.join(joinWithinSeconds)
    const warmUntilMs = performance.now() + load.warmupSeconds * 1000
    while (performance.now() < warmUntilMs) {
      crowd.leave()
      await crowd.join(joinWithinSeconds)
    }
    crowd.joining.reset()
    window.open()
    const endAtMs = performance.now() + load.durationSeconds * 1000
    do {
      crowd.leave()
      await crowd.join(joinWithinSeconds)
      tally.completed += crowd.ready
    } while (performance.now() < endAtMs)
    window.close()
    return { ...window.report(tally), latency: latencyOf(crowd.joining), errors: { ...crowd.errors } }
  } finally {
    crowd.leave()
  }
}
