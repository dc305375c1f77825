import { Effect, Exit } from "effect"

/**
 * For a statement of unknown outcome: it may have been applied, or may yet be, since Postgres works on until its own time
 * limit. So what it may have changed is told now, and again when it must have ended.
 */
export const invalidateAfterUnknownOutcome = (
  tell: Effect.Effect<void>,
  statementTimeoutMs: number,
): Effect.Effect<void> =>
  Effect.andThen(tell, Effect.asVoid(Effect.forkDetach(Effect.delay(tell, statementTimeoutMs))))

/**
 * Tells what a statement took away, whatever came of it: one that found nothing may be the repetition of one whose answer
 * was lost, and of one that failed nobody knows whether it was applied.
 */
export const invalidating =
  (tell: Effect.Effect<void>, statementTimeoutMs: number) =>
  <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.onExit(statement, (exit) =>
      Exit.isSuccess(exit) ? tell : invalidateAfterUnknownOutcome(tell, statementTimeoutMs),
    )
