import { Cause, Effect, Exit } from "effect"
import { Unavailable } from "../../schema/errors.ts"
import {
  CurrentWrite,
  type Fence,
  findFenceRefusal,
  joinWrites,
  type RunningWrite,
} from "../postgres/fence.ts"

/** A write whose keys are marked. */
export interface MarkedWrite {
  /** Completes when every process has acknowledged. Undefined if there are no other processes. */
  readonly acknowledged: Effect.Effect<Fence | undefined, Unavailable>
  /** The database refused the fence. `wasLost`: an earlier attempt may still be committed. */
  readonly refused: (silent: ReadonlyArray<string>, wasLost: boolean) => void
  /** Must be called once. If the outcome is not known, the marks stay until the statement must have ended. */
  readonly end: (isKnown: boolean) => void
}

const maxAttempts = 10
const tooManyAttempts = new Unavailable({
  error: "Other processes did not acknowledge the change. Retry later.",
  retryAfterSeconds: 1,
})

const isUnavailable = (failure: unknown): boolean => failure instanceof Unavailable

/** A failure from which it cannot be seen whether the statement was committed. */
const mayBeCommitted = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  (Cause.hasInterrupts(exit.cause) ||
    exit.cause.reasons.some((reason) => Cause.isFailReason(reason) && isUnavailable(reason.error)))

/**
 * Marks keys, runs a statement that changes their data, and ends the marks. If the database refuses the fence, nothing
 * was written, and the statement runs again. A statement can contain others that mark further keys: then only the
 * outermost one repeats.
 */
export const runInvalidating = <A, E, R>(
  open: () => MarkedWrite,
  statement: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | Unavailable, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMapEager(CurrentWrite, (outer) => {
      const write = open()
      let wasLost = false
      const attempt = (tries: number): Effect.Effect<A, E | Unavailable, R> =>
        restore(write.acknowledged).pipe(
          Effect.onError(() => Effect.sync(() => write.end(!wasLost))),
          Effect.flatMap((fence) => {
            const own: RunningWrite = {
              fence,
              lost: () => {
                wasLost = true
              },
            }
            const running = outer === undefined ? own : joinWrites([outer, own])
            return Effect.exit(restore(Effect.provideService(statement, CurrentWrite, running)))
          }),
          Effect.flatMap((exit): Effect.Effect<A, E | Unavailable, R> => {
            const refusal = findFenceRefusal(exit)
            if (refusal === undefined) {
              write.end(!wasLost && !mayBeCommitted(exit))
              return exit
            }
            if (outer?.fence !== undefined || tries === maxAttempts) {
              write.end(!wasLost)
              return outer?.fence !== undefined ? exit : Effect.fail(tooManyAttempts)
            }
            write.refused(refusal.silent, wasLost)
            return attempt(tries + 1)
          }),
        )
      return attempt(1)
    }),
  )
