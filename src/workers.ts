import { type ChildProcess, fork } from "node:child_process"
import type { DatabaseAddress } from "./postgres/sql.ts"

export interface Workers {
  /** One that has not left by then, as it hangs or was suspended, is ended by force. */
  stop(withinMs: number): Promise<void>
}

const restartPauseMs = 500
/** For those that are up when another does not come up. */
const giveUpMs = 60_000
const exited = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

/** Keeps n copies of this program on the port. One that dies is replaced; they all stop together. */
export const startWorkers = async (
  count: number,
  program: string,
  database: DatabaseAddress,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Workers> => {
  const children = new Set<ChildProcess>()
  let stopping = false

  const start = (preparesData: boolean): Promise<void> =>
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
        ready()
      })
      child.once("exit", (code, signal) => {
        children.delete(child)
        if (up) replace()
        else failed(new Error(`a worker stopped before it was ready (${signal ?? code})`))
      })
    })

  /** Until one comes up: what keeps it from that, such as a database that is away, may pass. */
  const replace = () => {
    setTimeout(() => {
      if (stopping) return
      start(false).catch((error: Error) => {
        console.error(error.message)
        replace()
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
    await start(true)
    await Promise.all(Array.from({ length: count - 1 }, () => start(false)))
    return { stop }
  } catch (error) {
    await stop(giveUpMs)
    throw error
  }
}
