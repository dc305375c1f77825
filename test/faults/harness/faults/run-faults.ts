import { setTimeout as sleep } from "node:timers/promises"
import type { Fleet } from "../fleet/fleet.ts"
import { catalog, type FaultName } from "./catalog.ts"
import type { Planned } from "./schedule.ts"

/** A fault that was run. */
export interface Ran {
  readonly fault: FaultName
  /** The processes that the fault concerned. */
  readonly processes: ReadonlyArray<string>
  readonly startedAt: number
  endedAt: number
}

/** Runs the planned faults, and notes them in `ran`. */
export const runFaults = async (
  fleet: Fleet,
  plan: ReadonlyArray<Planned>,
  ran: Array<Ran>,
  say: (line: string) => void,
): Promise<void> => {
  const running = new Set<Promise<void>>()
  for (const { afterMs, fault, member: place, ms, overlaps } of plan) {
    await sleep(afterMs)
    const member = fleet.members[place % fleet.members.length]!
    const { ofOne, run } = catalog[fault]
    const entry: Ran = {
      fault,
      processes: ofOne ? [member.name] : fleet.members.map(({ name }) => name),
      startedAt: performance.now(),
      endedAt: Number.POSITIVE_INFINITY,
    }
    ran.push(entry)
    say(`${fault}${ofOne ? ` ${member.name}` : ""} for ${(ms / 1000).toFixed(1)} s`)
    const done = run(fleet, member, ms).then(() => {
      entry.endedAt = performance.now()
      running.delete(done)
    })
    running.add(done)
    if (!overlaps) await Promise.all(running)
  }
  await Promise.all(running)
}

/** How long the effects of a fault are counted as its own after its end. */
export const recentMs = 3_000

/** Names the faults that lasted, or had just ended, at some time from `from` to `to`. */
export const activeFaults = (ran: ReadonlyArray<Ran>, from: number, to: number): string =>
  ran
    .filter(({ endedAt, startedAt }) => startedAt <= to && endedAt + recentMs >= from)
    .map(({ fault, processes }) => `${fault} (${processes.join(", ")})`)
    .join(" and ") || "no fault"
