import { Effect } from "effect"

/** The maximum time of one write at shutdown. A shutdown must end although the database does not respond. */
const maxWrite = "5 seconds"

/** Writes what is only in memory when the scope closes. What cannot be written in time is lost. */
export const writeAtShutdown = (write: Effect.Effect<void>) =>
  Effect.addFinalizer(() => Effect.interruptible(Effect.timeoutOption(write, maxWrite)))
