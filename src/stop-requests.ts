type Stop = () => Promise<void>

/** SIGHUP is what a terminal sends when it is closed. */
const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const
const parentPollMs = 500

export interface StopRequests {
  /** Replaces what a stop does. Until the first call the process has nothing to clean up and ends at once. */
  stopWith(stop: Stop): void
  isStopping(): boolean
}

export interface StopOptions {
  /** Also stop when the process that started this one ends without passing a signal on. */
  readonly withParent: boolean
}

/**
 * Ends this process when it is asked to stop, with exit code 0 if the stop succeeds. Installed before anything else starts:
 * as process 1 of a container Node would ignore a signal that has no listener. Further requests are ignored, because
 * Ctrl-C under `npm start` arrives twice: from the terminal and from npm.
 */
export const listenForStop = ({ withParent }: StopOptions): StopRequests => {
  let stop: Stop = async () => {}
  let stopping = false
  const request = () => {
    if (stopping) return
    stopping = true
    stop().then(
      () => process.exit(0),
      (error) => {
        console.error(error)
        process.exit(1)
      },
    )
  }
  for (const signal of signals) process.on(signal, request)
  // A worker does not outlive its parent.
  process.on("disconnect", request)
  if (withParent) {
    const parent = process.ppid
    setInterval(() => {
      if (process.ppid !== parent) request()
    }, parentPollMs).unref()
  }
  return {
    stopWith: (next) => {
      stop = next
    },
    isStopping: () => stopping,
  }
}
