import { Effect, Exit } from "effect"

/**
 * Invalidates after a statement with an unknown outcome. The statement may be committed already or later, because
 * Postgres may run it until `statement_timeout`. So this function invalidates twice: now, and when the statement must
 * have ended.
 */
export const invalidateAfterUnknownOutcome = (
  invalidate: Effect.Effect<void>,
  statementTimeoutMs: number,
): Effect.Effect<void> =>
  Effect.andThen(invalidate, Effect.asVoid(Effect.forkDetach(Effect.delay(invalidate, statementTimeoutMs))))

/**
 * Invalidates after a statement, whatever its result. A statement that changed nothing may be the repetition of a
 * statement whose response was lost. A failed statement may have been committed.
 */
export const invalidating =
  (invalidate: Effect.Effect<void>, statementTimeoutMs: number) =>
  <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.onExit(statement, (exit) =>
      Exit.isSuccess(exit) ? invalidate : invalidateAfterUnknownOutcome(invalidate, statementTimeoutMs),
    )
