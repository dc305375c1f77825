import type { Lane, LoadPlan, OpenLane, Settle } from "./lane.ts"
import type { Run } from "./run.ts"
import { StayAwake } from "./stay-awake.ts"
import { Tally } from "./tally.ts"
import { sleepSeconds, waitUntil } from "./wait.ts"
import type { Window } from "./window.ts"

/** Measures the peak rate: every lane sends its next operation as soon as the previous one is settled. */
export async function runClosedLoop(plan: LoadPlan, openLane: OpenLane, window: Window): Promise<Run> {
  const tally = new Tally()
  const pending = new Set<Lane>()
  let phase: "warm-up" | "measured" | "ended" = "warm-up"
  let settled = 0
  const settle: Settle = (lane, error) => {
    const nowMs = performance.now()
    settled++
    if (phase === "measured") tally.settle(nowMs - lane.intendedAtMs, error)
    if (phase !== "ended") {
      lane.fire(nowMs)
      return
    }
    pending.delete(lane)
    if (error !== undefined) tally.settle(nowMs - lane.intendedAtMs, error)
  }
  for (let i = 0; i < plan.connections; i++) pending.add(openLane(i, settle))
  const lanes = [...pending]
  for (const lane of lanes) lane.fire(performance.now())

  const stayAwake = plan.awake ? new StayAwake(() => settled) : undefined
  await sleepSeconds(plan.warmupSeconds)
  window.open()
  stayAwake?.restart()
  phase = "measured"
  await sleepSeconds(plan.durationSeconds)
  phase = "ended"
  window.close(stayAwake?.end())

  // Operations that are pending when the measured time ends do not count for the rate. If they fail or get no
  // response, they are reported as errors.
  await waitUntil(() => pending.size === 0, plan.timeoutSeconds + 1)
  for (const lane of pending) tally.settle(performance.now() - lane.intendedAtMs, "timeout")
  for (const lane of lanes) lane.close()
  return window.report(tally)
}
