import { Effect } from "effect"

/**
 * For a statement of unknown outcome: it may have been applied, or may yet be, since Postgres works on until its own time
 * limit. So what it may have changed is told now, and again when it must have ended.
 */
export const tellUncertain = (tell: Effect.Effect<void>, statementTimeoutMs: number): Effect.Effect<void> =>
  Effect.andThen(tell, Effect.asVoid(Effect.forkDetach(Effect.delay(tell, statementTimeoutMs))))
