import type { Lane, LoadPlan, OpenLane, Settle } from "./lane.ts"
import { startPacemaker } from "./pacemaker.ts"
import type { Run } from "./run.ts"
import { newHistogram, record, Tally } from "./tally.ts"
import { waitUntil } from "./wait.ts"
import type { Window } from "./window.ts"

// Up to this rate, a separate thread (the pacemaker) sends the loop a message when an operation is due. This leaves the
// core free for the server between operations. Above this rate the loop polls: the messages would cost as much as
// polling, and the generator needs its own core in both cases.
const pacedBelowPerSecond = 4_000

/**
 * Sends operations at a constant rate. Operation i is due at start + i / rate. Its latency is measured from that
 * time, even if it has to wait for a free lane. So if the server stalls, the latencies of all operations that become
 * due during the stall include their waiting time.
 */
export async function runOpenLoop(
  plan: LoadPlan & { readonly ratePerSecond: number },
  openLane: OpenLane,
  window: Window,
): Promise<Run> {
  const tally = new Tally()
  const lateness = newHistogram()
  const perMs = plan.ratePerSecond / 1000
  const firstMeasured = Math.floor(plan.ratePerSecond * plan.warmupSeconds)
  const total = firstMeasured + Math.max(1, Math.floor(plan.ratePerSecond * plan.durationSeconds))
  const idle = new IdleLanes(plan.connections)
  let startMs = 0
  let sent = 0
  let settled = 0
  let lastAnswerAtMs = 0
  let over = false

  const dueMs = (operation: number) => startMs + operation / perMs
  const fireNext = (lane: Lane) => {
    if (sent === firstMeasured) window.open()
    const due = dueMs(sent++)
    lane.fire(plan.dropsLate ? Math.max(due, performance.now()) : due)
  }
  const drop = () => {
    if (sent === firstMeasured) window.open()
    if (sent++ >= firstMeasured) tally.settle(0, "dropped")
    settled++
  }
  const settle: Settle = (lane, error) => {
    const nowMs = performance.now()
    settled++
    if (lane.intendedAtMs >= dueMs(firstMeasured)) tally.settle(nowMs - lane.intendedAtMs, error)
    if (error === undefined) lastAnswerAtMs = nowMs
    if (sent < total && dueMs(sent) <= nowMs && idle.isEmpty()) fireNext(lane)
    else idle.put(lane)
  }

  const lanes: Lane[] = []
  for (let i = 0; i < plan.connections; i++) {
    const lane = openLane(i, settle)
    lanes.push(lane)
    idle.put(lane)
  }

  await new Promise<void>((resolve) => {
    const sendDue = () => {
      const nowMs = performance.now()
      while (sent < total && dueMs(sent) <= nowMs) {
        const lane = idle.take()
        if (lane === undefined) {
          if (!plan.dropsLate) break
          drop()
          continue
        }
        if (sent >= firstMeasured) record(lateness, nowMs - dueMs(sent))
        fireNext(lane)
      }
      return nowMs >= dueMs(total)
    }
    if (plan.ratePerSecond <= pacedBelowPerSecond) {
      const pacemaker = startPacemaker(1 / perMs, () => {
        if (over || !sendDue()) return
        over = true
        pacemaker.stop()
        resolve()
      })
      startMs = pacemaker.startMs
    } else {
      startMs = performance.now()
      const spin = () => (sendDue() ? resolve() : setImmediate(spin))
      spin()
    }
  })

  await waitUntil(() => settled === total, plan.timeoutSeconds + 1)
  const endMs = performance.now()
  window.close()
  const returned = new Set<Lane>()
  for (let lane = idle.take(); lane !== undefined; lane = idle.take()) returned.add(lane)
  for (const lane of lanes) if (!returned.has(lane)) tally.settle(endMs - lane.intendedAtMs, "timeout")
  for (let i = Math.max(sent, firstMeasured); i < total; i++) tally.settle(endMs - dueMs(i), "unsent")
  for (const lane of lanes) lane.close()

  const run = window.report(tally, {
    startMs: dueMs(firstMeasured),
    endMs: Math.max(dueMs(total), lastAnswerAtMs),
  })
  return {
    ...run,
    offeredPerSecond: plan.ratePerSecond,
    generator: { ...run.generator, latenessP99Ms: lateness.getValueAtPercentile(99) / 1000 },
  }
}

/** The idle lanes in a first-in, first-out queue, so that the load is distributed evenly over the connections. */
class IdleLanes {
  readonly #ring: (Lane | undefined)[]
  #head = 0
  #size = 0

  constructor(capacity: number) {
    this.#ring = new Array<Lane | undefined>(capacity).fill(undefined)
  }

  isEmpty(): boolean {
    return this.#size === 0
  }

  put(lane: Lane): void {
    this.#ring[(this.#head + this.#size++) % this.#ring.length] = lane
  }

  take(): Lane | undefined {
    if (this.#size === 0) return undefined
    const lane = this.#ring[this.#head]
    this.#head = (this.#head + 1) % this.#ring.length
    this.#size--
    return lane
  }
}
