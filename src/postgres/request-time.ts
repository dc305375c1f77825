import { Context, Effect, type Fiber } from "effect"
import { Unavailable } from "../../schema/errors.ts"

/** How long the current request may wait, in monotonic time (`performance.now`). */
export interface RequestTime {
  /** The id of the request, for log lines. Undefined for a statement of several requests. */
  readonly requestId?: string
  readonly discardAt: number
  /**
   * Whether a statement is discarded after `discardAt` even if it could run at once, because the request was delayed
   * before, for example by a stalled link. It is set for writes: a delayed write may meet a later one of its client. A
   * slow read does no harm, so its statements are discarded only if they have to wait.
   */
  readonly isStrict: boolean
  /**
   * True from the first statement that may write. From then on the request is completed, however long it waits: a
   * request that is answered with `waitedTooLong` has changed nothing.
   */
  hasWritten: boolean
}

/** Undefined for work without a request, such as a sweep, and for requests that are not limited. */
export const CurrentRequestTime = Context.Reference<RequestTime | undefined>("directory/RequestTime", {
  defaultValue: () => undefined,
})

/** Returns the id of the request that a fiber works for. */
export const requestIdOf = (fiber: Fiber.Fiber<unknown, unknown>): string | undefined =>
  fiber.getRef(CurrentRequestTime)?.requestId

export const isLate = (time: RequestTime | undefined, now: number): boolean =>
  time !== undefined && !time.hasWritten && now > time.discardAt

/** Like `isLate`, for a statement that could run at once. */
export const isTooLate = (time: RequestTime | undefined, now: number): boolean =>
  time?.isStrict === true && isLate(time, now)

/** The failure of a request that waited too long. It is discarded before its statement is given to the database. */
export const waitedTooLong = new Unavailable({
  error: "The service is overloaded. The request waited too long and changed nothing. Retry later.",
  retryAfterSeconds: 1,
})

/**
 * Runs a write that precedes the effect of the request, such as the lease of its Idempotency-Key. It is discarded like
 * the other statements, but the request counts as one that has written nothing, so it can still be discarded.
 */
export const beforeEffect = <A, E, R>(write: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMapEager(CurrentRequestTime, (time) =>
    time === undefined ? write : Effect.provideService(write, CurrentRequestTime, { ...time }),
  )

/**
 * Fails if the request has waited too long, also if it counts as one that has written. For a decision that is right
 * only if the request was made recently, before anything of it was committed.
 */
export const refuseLate: Effect.Effect<void, Unavailable> = Effect.flatMapEager(CurrentRequestTime, (time) =>
  time !== undefined && performance.now() > time.discardAt ? Effect.fail(waitedTooLong) : Effect.void,
)
