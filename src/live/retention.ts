import { Effect, Layer, Schedule } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { AppConfig } from "../config/config.ts"
import { Events } from "../turns/event-store.ts"
import { OversizedChannels } from "./oversized-channels.ts"

const batch = 2000

/**
 * Repeats a delete of at most `batch` rows until it deletes fewer, so that no delete blocks other statements for long.
 */
const inBatches = Effect.fnUntraced(function* (trim: Effect.Effect<number, Unavailable>) {
  while ((yield* trim) === batch) yield* Effect.sleep("50 millis")
})

/** Deletes events that are too old, or that exceed the limit of their channel. */
export const retention = Layer.effectDiscard(
  Effect.gen(function* () {
    const events = yield* Events
    const oversized = yield* OversizedChannels
    const { eventKeepHours, eventKeepPerChannel } = yield* AppConfig
    const trim = Effect.gen(function* () {
      yield* inBatches(events.trimOld(eventKeepHours, batch))
      const names = oversized.take()
      if (names.length > 0) yield* inBatches(events.trimChannels(names, eventKeepPerChannel, batch))
    }).pipe(Effect.catchCause((cause) => Effect.logWarning("event retention failed", cause)))
    // Every process runs this. Jitter makes it unlikely that they delete at the same time.
    yield* Effect.forkScoped(trim.pipe(Effect.schedule(Schedule.jittered(Schedule.spaced("1 minute")))))
  }),
)
