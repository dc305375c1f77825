import { Effect, Layer, Schedule } from "effect"
import { AppConfig } from "../config.ts"
import { Events } from "../store/events.ts"

const batch = 2000

/** Forgets old events, a batch at a time, so that no delete holds others up for long. */
export const retention = Layer.effectDiscard(
  Effect.gen(function* () {
    const events = yield* Events
    const { eventKeepHours, eventKeepPerChannel } = yield* AppConfig
    const trim = Effect.gen(function* () {
      for (;;) {
        const trimmed = yield* events.trim(eventKeepHours, eventKeepPerChannel, batch)
        if (trimmed < batch) return
        yield* Effect.sleep("50 millis")
      }
    }).pipe(Effect.catch(() => Effect.void))
    // Jittered: every process does this, and whoever comes second finds nothing left.
    yield* Effect.forkScoped(trim.pipe(Effect.schedule(Schedule.jittered(Schedule.spaced("1 minute")))))
  }),
)
