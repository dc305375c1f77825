import { Effect, Layer, Schedule } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { AppConfig } from "../config/config.ts"
import { Events } from "../turns/event-store.ts"
import { OversizedChannels } from "./oversized-channels.ts"

const batch = 2000

/** A batch at a time, so that no delete holds others up for long. */
const inBatches = Effect.fnUntraced(function* (trim: Effect.Effect<number, Unavailable>) {
  while ((yield* trim) === batch) yield* Effect.sleep("50 millis")
})

/** Forgets events that are old, or too many of one channel. */
export const retention = Layer.effectDiscard(
  Effect.gen(function* () {
    const events = yield* Events
    const oversized = yield* OversizedChannels
    const { eventKeepHours, eventKeepPerChannel } = yield* AppConfig
    const trim = Effect.gen(function* () {
      yield* inBatches(events.trimOld(eventKeepHours, batch))
      const names = oversized.take()
      if (names.length > 0) yield* inBatches(events.trimChannels(names, eventKeepPerChannel, batch))
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning("old events not trimmed, the next round tries again", cause),
      ),
    )
    // Jittered: every process does this, and whoever comes second finds nothing left.
    yield* Effect.forkScoped(trim.pipe(Effect.schedule(Schedule.jittered(Schedule.spaced("1 minute")))))
  }),
)
