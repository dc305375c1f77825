import type { Lane, LoadPlan, OpenLane, Settle } from "./lane.ts"
import type { Run } from "./run.ts"
import { Tally } from "./tally.ts"
import { Vigil } from "./vigil.ts"
import { sleepSeconds, waitUntil } from "./wait.ts"
import type { Window } from "./window.ts"

/** Every lane sends its next operation as soon as the last one is settled: the peak the server can take. */
export async function runClosedLoop(plan: LoadPlan, openLane: OpenLane, window: Window): Promise<Run> {
  const tally = new Tally()
  const underWay = new Set<Lane>()
  let phase: "warm-up" | "measured" | "over" = "warm-up"
  let settled = 0
  const settle: Settle = (lane, error) => {
    const nowMs = performance.now()
    settled++
    if (phase === "measured") tally.settle(nowMs - lane.intendedAtMs, error)
    if (phase !== "over") {
      lane.fire(nowMs)
      return
    }
    underWay.delete(lane)
    if (error !== undefined) tally.settle(nowMs - lane.intendedAtMs, error)
  }
  for (let i = 0; i < plan.connections; i++) underWay.add(openLane(i, settle))
  const lanes = [...underWay]
  for (const lane of lanes) lane.fire(performance.now())

  const vigil = plan.awake ? new Vigil(() => settled) : undefined
  await sleepSeconds(plan.warmupSeconds)
  window.open()
  vigil?.restart()
  phase = "measured"
  await sleepSeconds(plan.durationSeconds)
  phase = "over"
  window.close(vigil?.end())

  // What is still on its way at the end is no part of the rate, but what never comes back must not go unseen.
  await waitUntil(() => underWay.size === 0, plan.timeoutSeconds + 1)
  for (const lane of underWay) tally.settle(performance.now() - lane.intendedAtMs, "timeout")
  for (const lane of lanes) lane.close()
  return window.report(tally)
}
