import { setTimeout as sleep } from "node:timers/promises"

/**
 * The start of every change to the schema. One process at a time changes it; the others wait. Statements have no time
 * limit here, because building an index of a large table takes longer than a request may.
 */
export const begin =
  "set local statement_timeout = 0; set local lock_timeout = 0; select pg_advisory_xact_lock(730214906);"

/**
 * A dump or a forgotten session may lock a table for hours. While a migration waits for the table, every later writer
 * waits behind it, and requests to processes of the previous version fail. So a migration gives up soon and tries
 * again later.
 */
export const lockWait = "set local lock_timeout = '2s';"
const pauseMs = 1000
const lockNotAvailable = "55P03"
const deadlock = "40P01"

/** Runs a change to the schema until no table that it needs is locked by another session. */
export const retryLocked = async (
  name: string,
  change: () => Promise<unknown>,
  isDone: () => Promise<boolean>,
): Promise<void> => {
  for (let tries = 1; ; tries++) {
    try {
      await change()
      return
    } catch (error) {
      if (await isDone()) return
      const { code } = error as { code?: string }
      if (code !== lockNotAvailable && code !== deadlock) throw error
      if (tries === 1) console.error(`${name} waits for a table that another session has locked`)
      await sleep(pauseMs)
    }
  }
}
