import { Effect, Layer, Schedule } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { AppConfig } from "../config/read-config.ts"
import { Metrics } from "../telemetry/metrics.ts"
import { makeRecordPruned } from "../telemetry/pruning-metrics.ts"
import { Events, type PrunedChannels } from "../turns/event-store.ts"
import { OversizedChannels } from "./oversized-channels.ts"

const eventBatch = 2000
const channelBatch = 500
const pause = "20 millis"
const minSettledSeconds = 600

/**
 * Repeats a delete of at most `eventBatch` rows until it deletes fewer, so that no delete blocks other statements for
 * long. Returns the number of deleted rows.
 */
const inBatches = Effect.fnUntraced(function* (trim: Effect.Effect<number, Unavailable>) {
  for (let all = 0; ; ) {
    const deleted = yield* trim
    all += deleted
    if (deleted < eventBatch) return all
    yield* Effect.sleep(pause)
  }
})

/** Deletes the events that are too old, and those that exceed the limit of the given channels. */
export const pruneEvents = Effect.fnUntraced(function* (oversized: ReadonlyArray<string>) {
  const events = yield* Events
  const { eventKeepHours, eventKeepPerChannel } = yield* AppConfig
  const old = yield* inBatches(events.trimOld(eventKeepHours, eventBatch))
  const surplus =
    oversized.length === 0
      ? 0
      : yield* inBatches(events.trimChannels(oversized, eventKeepPerChannel, eventBatch))
  makeRecordPruned(yield* Metrics)("event", {
    deleted: old + surplus,
    oldestSeconds: yield* events.oldestSeconds,
  })
})

/**
 * Deletes the channels without stored events, and then raises the floor for those whose offset is above it: they are
 * deleted by a later run, when every statement uses the new floor.
 */
export const pruneChannels = Effect.fnUntraced(function* (settledSeconds: number) {
  const events = yield* Events
  let [deleted, highest] = [0, 0]
  for (let past: string | null = ""; past !== null; ) {
    const part: PrunedChannels | undefined = yield* events.pruneChannels(past, channelBatch, settledSeconds)
    if (part === undefined) return
    deleted += part.deleted
    highest = Math.max(highest, part.highest ?? 0)
    past = part.lastName
    if (past !== null) yield* Effect.sleep(pause)
  }
  if (highest > 0) yield* events.raiseChannelFloor(highest, settledSeconds)
  makeRecordPruned(yield* Metrics)("channel", { deleted })
})

/** Deletes events whose retention has ended, and unused channels. */
export const retention = Layer.effectDiscard(
  Effect.gen(function* () {
    const oversized = yield* OversizedChannels
    const { statementTimeoutMs } = yield* AppConfig
    const settledSeconds = Math.max(minSettledSeconds, (10 * statementTimeoutMs) / 1000)
    const repeat = <R>(
      name: string,
      run: Effect.Effect<void, Unavailable, R>,
      every: Schedule.Schedule<unknown>,
    ) =>
      run.pipe(
        Effect.catchCause((cause) => Effect.logWarning(`${name} retention failed`, cause)),
        // Every process runs this. Jitter makes it unlikely that they delete at the same time.
        Effect.schedule(Schedule.jittered(every)),
        Effect.forkScoped,
      )
    yield* repeat(
      "event",
      Effect.suspend(() => pruneEvents(oversized.take())),
      Schedule.spaced("1 minute"),
    )
    yield* repeat("channel", pruneChannels(settledSeconds), Schedule.spaced("30 minutes"))
  }),
)
