import { type ChildProcess, fork } from "node:child_process"
import type { DatabaseAddress } from "./postgres/client.ts"
import { WorkerScrapes } from "./telemetry/worker-scrapes.ts"

export interface Workers {
  /** Stops all workers. A worker that has not exited after `withinMs`, because it hangs or is suspended, is killed. */
  stop(withinMs: number): Promise<void>
}

const restartPauseMs = 500
/** The time for the other workers to stop if one fails to start. */
const failedStartStopMs = 60_000
const exited = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

/**
 * Starts `count` workers, which share the port. A worker that exits is replaced; all stop together. The workers have the
 * numbers 1 to `count`, and a replacement gets the number of the worker that it replaces.
 */
export const startWorkers = async (
  count: number,
  program: string,
  database: DatabaseAddress,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Workers> => {
  const children = new Set<ChildProcess>()
  const scrapes = new WorkerScrapes(count)
  let stopping = false

  const start = (slot: number, preparesData: boolean): Promise<void> =>
    new Promise((ready, failed) => {
      const child = fork(program, {
        env: {
          ...environment,
          WORKER_OF: JSON.stringify(database),
          WORKER_FIRST: preparesData ? "yes" : "no",
        },
      })
      children.add(child)
      let up = false
      child.on("message", (message) => {
        if (message !== "ready") return
        up = true
        scrapes.add(slot, child)
        ready()
      })
      child.once("exit", (code, signal) => {
        children.delete(child)
        if (up) replace(slot)
        else failed(new Error(`a worker exited before it was ready (${signal ?? code})`))
      })
    })

  /**
   * Starts a new worker, and retries until it is ready: the cause, such as an unreachable database, may be temporary.
   */
  const replace = (slot: number) => {
    setTimeout(() => {
      if (stopping) return
      start(slot, false).catch((error: Error) => {
        console.error(error.message)
        replace(slot)
      })
    }, restartPauseMs)
  }

  const stop = async (withinMs: number) => {
    stopping = true
    await Promise.all(
      [...children].map(
        (child) =>
          new Promise<void>((done) => {
            if (exited(child)) return done()
            const timer = setTimeout(() => child.kill("SIGKILL"), withinMs)
            child.once("exit", () => {
              clearTimeout(timer)
              done()
            })
            child.kill("SIGTERM")
          }),
      ),
    )
  }

  try {
    await start(1, true)
    await Promise.all(Array.from({ length: count - 1 }, (_, i) => start(i + 2, false)))
    return { stop }
  } catch (error) {
    await stop(failedStartStopMs)
    throw error
  }
}
