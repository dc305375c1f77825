import { setTimeout as sleep } from "node:timers/promises"

/**
 * The first statements of every change to the schema. They take a lock, so one process at a time changes the schema,
 * and the other processes wait. They also remove the time limit of statements, because building an index of a large
 * table takes longer than a request may take.
 */
export const begin =
  "set local statement_timeout = 0; set local lock_timeout = 0; select pg_advisory_xact_lock(730214906);"

/**
 * Limits how long a migration waits for a table. A dump or a forgotten session may lock a table for hours. While a
 * migration waits for the table, every later writer waits behind the migration, and requests to processes of the
 * previous version fail. So a migration gives up after this time and tries again later.
 */
export const lockWait = "set local lock_timeout = '2s';"
const pauseMs = 1000
const lockNotAvailable = "55P03"
const deadlock = "40P01"

/**
 * Runs a change to the schema. The change is repeated as long as another session locks a table that it needs.
 * `isDone` is asked after each failure; if it returns true, the change is not repeated.
 */
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
