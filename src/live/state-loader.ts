import { Effect, Schedule, Semaphore } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { liveLimits } from "../../schema/live-frames.ts"
import { type EventRow, Events, type Opening, type Position } from "../turns/event-store.ts"
import type { Channel } from "./channel-names.ts"
import { ChannelStates } from "./channel-states.ts"

/** Reads for subscribers at once: a crowd that comes back must not take the pool from everybody else. */
const readsAtOnce = 4
/** How often a view is taken again because the channel moved under it. */
const viewTries = 3
const pageEvents = 100

/** Asked when a read's turn comes: sockets that came and went while it waited are read for no more. */
export type IsWanted = () => boolean
const unread = Effect.succeed(undefined)

const again = Schedule.jittered(Schedule.spaced("500 millis"))

/** Reads what one subscriber needs. Without the database it keeps trying: there is nothing better to tell a client. */
export const makeStateLoader = Effect.gen(function* () {
  const events = yield* Events
  const states = yield* ChannelStates
  const reads = yield* Semaphore.make(readsAtOnce)

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
      const stood = later.epoch === opening.epoch && later.offset === opening.offset
      // A view newer than its position repeats what the events after it will say; an older one would hide it.
      if (stood || tries === viewTries) return { ...opening, state: view } satisfies Opening
      opening = later
    }
    return opening
  })

  // Others wait for the same answer and more will come to: also what should not happen is tried again.
  const patiently = <A>(isWanted: IsWanted, read: Effect.Effect<A, Unavailable>) =>
    reads
      .withPermits(1)(
        Effect.suspend((): typeof read | Effect.Effect<undefined> => (isWanted() ? read : unread)),
      )
      .pipe(
        Effect.catchDefect((defect) =>
          Effect.andThen(Effect.logError("a live read failed", defect), Effect.fail(defect)),
        ),
        Effect.retry(again),
        Effect.orDie,
      )

  return {
    open: (
      channel: Channel,
      after: Position | undefined,
      isWanted: IsWanted,
    ): Effect.Effect<Opening | undefined> => patiently(isWanted, openOnce(channel, after)),
    page: (
      channel: Channel,
      offset: number,
      isWanted: IsWanted,
    ): Effect.Effect<ReadonlyArray<EventRow> | undefined> =>
      patiently(isWanted, events.after(channel.name, offset, pageEvents)),
  }
})
export type StateLoader = Effect.Success<typeof makeStateLoader>
