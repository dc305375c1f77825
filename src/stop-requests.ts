type Stop = () => Promise<void>

/** A terminal sends SIGHUP when it is closed. */
const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const
const parentPollMs = 500

export interface StopRequests {
  /**
   * Sets the function that a stop calls. If a stop is requested before `stopWith` was called, the process has nothing
   * to clean up and exits immediately.
   */
  stopWith(stop: Stop): void
  isStopping(): boolean
}

export interface StopOptions {
  /** If true, the process also stops when its parent process ends without forwarding a signal. */
  readonly withParent: boolean
}

/**
 * Ends this process when it is requested to stop, with exit code 0 if the stop succeeds. It is installed before
 * anything else starts: in a container, Node may be process 1, which ignores a signal that has no listener. Further
 * requests are ignored, because Ctrl-C under `npm start` arrives twice: from the terminal and from npm.
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
  // A worker stops when its parent ends.
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
