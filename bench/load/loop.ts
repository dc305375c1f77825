import { runClosedLoop } from "./closed-loop.ts"
import type { LoadPlan, OpenLane } from "./lane.ts"
import { runOpenLoop } from "./open-loop.ts"
import type { Run } from "./run.ts"
import type { Window } from "./window.ts"

export function runLoop(plan: LoadPlan, window: Window, openLane: OpenLane): Promise<Run> {
  const { ratePerSecond } = plan
  return ratePerSecond === undefined
    ? runClosedLoop(plan, openLane, window)
    : runOpenLoop({ ...plan, ratePerSecond }, openLane, window)
}
