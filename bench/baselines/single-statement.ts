import type { Done, Job } from "../load/generator.ts"
import type { Lane, Settle } from "../load/lane.ts"
import { runLoop } from "../load/loop.ts"
import { Window } from "../load/window.ts"
import { openUpdatedTable } from "./updated-table.ts"

// This baseline is the upper limit for writes. It only runs one UPDATE by primary key for each operation.
const update = await openUpdatedTable(process.argv[2] ?? "")

function openLane(_: number, settle: Settle): Lane {
  const lane: Lane = {
    intendedAtMs: 0,
    fire: (intendedAtMs) => {
      lane.intendedAtMs = intendedAtMs
      update().then(
        (isDone) => settle(lane, isDone ? undefined : "body"),
        // On a closed pool every statement fails at once. Without `setImmediate`, the loop would send statements
        // without a pause and block all other work.
        () => setImmediate(() => settle(lane, "statement")),
      )
    },
    close: () => {},
  }
  return lane
}

process.channel?.ref()
process.on("message", async ({ plan }: Job) => {
  try {
    const run = await runLoop(plan, new Window(process.pid), openLane)
    process.send?.({ type: "done", run } satisfies Done)
  } catch (error) {
    process.send?.({ type: "failed", reason: String(error) })
  }
})
process.send?.({ type: "ready" })
