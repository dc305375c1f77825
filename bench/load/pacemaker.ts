import { Worker } from "node:worker_threads"

const leadMs = 100

export interface Pacemaker {
  /** The time of the first tick, by `performance.now()` of the thread that started the pacemaker. */
  readonly startMs: number
  readonly stop: () => void
}

/**
 * Calls `onBeat` every `tickMs` milliseconds, which can be a fraction. Node's timers have a resolution of only one
 * millisecond. A thread that waits on a futex wakes within some tens of microseconds. Unlike a busy loop, it leaves
 * the core to the server and its database.
 */
export function startPacemaker(tickMs: number, onBeat: () => void): Pacemaker {
  const startMs = performance.now() + leadMs
  // The worker gets the source text of `beat`, because a worker cannot load TypeScript on Node 20. So `beat` must not
  // use anything that is defined outside of it.
  const worker = new Worker(`(${beat.toString()})()`, {
    eval: true,
    execArgv: [],
    workerData: { tickMs, startEpochMs: performance.timeOrigin + startMs },
  })
  worker.on("message", onBeat)
  return { startMs, stop: () => void worker.terminate() }
}

function beat(): void {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads")
  const { tickMs, startEpochMs }: { tickMs: number; startEpochMs: number } = workerData
  const startMs = startEpochMs - performance.timeOrigin
  const never = new Int32Array(new SharedArrayBuffer(4))
  for (let tick = 0; ; tick++) {
    const waitMs = startMs + tick * tickMs - performance.now()
    if (waitMs > 0) Atomics.wait(never, 0, 0, waitMs)
    parentPort?.postMessage(0)
  }
}
