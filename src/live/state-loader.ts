import { Effect, Schedule, Semaphore } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { liveLimits } from "../../schema/live-frames.ts"
import { type EventRow, Events, type Opening, type Position } from "../turns/event-store.ts"
import type { Channel } from "./channel-names.ts"
import { ChannelStates } from "./channel-states.ts"

/** Limits concurrent reads: many reconnecting clients must not use the whole connection pool. */
const concurrentReads = 4
/** The maximum number of times that a view is read, if the channel gets events during each read. */
const viewTries = 3
const pageEvents = 100

/** Called before a queued read starts. False: nothing needs the result any more, and the read is skipped. */
export type IsWanted = () => boolean
const skipped = Effect.succeed(undefined)

const retrySchedule = Schedule.jittered(Schedule.spaced("500 millis"))

/** Reads the state and the missed events for a subscriber. While the database is unavailable, it retries. */
export const makeStateLoader = Effect.gen(function* () {
  const events = yield* Events
  const states = yield* ChannelStates
  const reads = yield* Semaphore.make(concurrentReads)

  const openOnce = Effect.fnUntraced(function* (channel: Channel, after: Position | undefined) {
    const state = states.of(channel.kind)
    if ("expression" in state) {
      const expression = (sql: Parameters<typeof state.expression>[1]) => state.expression(channel, sql)
      return yield* events.open(channel.name, after, liveLimits.replayEvents, expression)
    }
    let opening = yield* events.open(channel.name, after, liveLimits.replayEvents)
    for (let tries = 1; opening.missed === undefined; tries++) {
      const view = JSON.stringify(yield* state.view(channel)) ?? "null"
      const later = yield* events.open(channel.name, undefined, 0)
      const isUnchanged = later.epoch === opening.epoch && later.offset === opening.offset
      // The view may be newer than its position, because later events only repeat the changes in it. If the view were
      // older, a change would be lost.
      if (isUnchanged || tries === viewTries) return { ...opening, state: view } satisfies Opening
      opening = later
    }
    return opening
  })

  // Defects are retried too, because other subscribers wait for the same result.
  const withRetries = <A>(isWanted: IsWanted, read: Effect.Effect<A, Unavailable>) =>
    reads
      .withPermits(1)(
        Effect.suspend((): typeof read | Effect.Effect<undefined> => (isWanted() ? read : skipped)),
      )
      .pipe(
        Effect.catchDefect((defect) =>
          Effect.andThen(Effect.logError("live read failed", defect), Effect.fail(defect)),
        ),
        Effect.retry(retrySchedule),
        Effect.orDie,
      )

  return {
    open: (
      channel: Channel,
      after: Position | undefined,
      isWanted: IsWanted,
    ): Effect.Effect<Opening | undefined> => withRetries(isWanted, openOnce(channel, after)),
    page: (
      channel: Channel,
      offset: number,
      isWanted: IsWanted,
    ): Effect.Effect<ReadonlyArray<EventRow> | undefined> =>
      withRetries(isWanted, events.after(channel.name, offset, pageEvents)),
  }
})
export type StateLoader = Effect.Success<typeof makeStateLoader>
