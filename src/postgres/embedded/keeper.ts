import { setTimeout as sleep } from "node:timers/promises"
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from "./embedded.ts"

const restartPauseMs = 200
const maxPauseMs = 10_000

/**
 * Runs an embedded Postgres and restarts it when it ends unexpectedly. Until it runs again, the service responds with
 * 503, as it does when any other database is not reachable.
 */
export const keepEmbeddedPostgres = async (options: EmbeddedPostgresOptions) => {
  let current: EmbeddedPostgres = await startEmbeddedPostgres(options)
  const { port, socketDir } = current
  let stopping = false

  const restart = async () => {
    for (let pauseMs = restartPauseMs; !stopping; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      try {
        current = await startEmbeddedPostgres(options)
        return watch()
      } catch (error) {
        console.error(`postgres restart failed: ${error instanceof Error ? error.message : error}`)
        await sleep(pauseMs)
      }
    }
  }
  const watch = () => {
    void current.exited.then((reason) => {
      if (stopping) return
      console.error(`postgres ended and is restarted: ${reason}`)
      return restart()
    })
  }
  watch()

  return {
    socketDir,
    port,
    pid: () => current.pid,
    stop: async () => {
      stopping = true
      await current.stop()
    },
  }
}
