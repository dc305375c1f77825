import { HttpLane, type HttpTraffic } from "./http-lane.ts"
import type { LoadPlan } from "./lane.ts"
import { runLoop } from "./loop.ts"
import type { Target } from "./request.ts"
import type { Run } from "./run.ts"
import { Window } from "./window.ts"

const expireEveryMs = 100

export async function runHttpLoad(
  target: Target,
  traffic: HttpTraffic,
  plan: LoadPlan,
  serverPid: number | undefined,
): Promise<Run> {
  const lanes: HttpLane[] = []
  const sweep = setInterval(() => {
    const nowMs = performance.now()
    for (const lane of lanes) lane.expire(nowMs, plan.timeoutSeconds * 1000)
  }, expireEveryMs)
  try {
    const run = await runLoop(plan, new Window(serverPid), (index, settle) => {
      const lane = new HttpLane(index, target, traffic, settle)
      lanes.push(lane)
      return lane
    })
    return traffic.auditor === undefined ? run : { ...run, audit: traffic.auditor.take() }
  } finally {
    clearInterval(sweep)
  }
}
