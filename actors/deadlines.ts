import { Cause, Context, Effect, FiberMap, Layer, Semaphore } from "effect"
import { EntityStore } from "./ports.ts"

type OnDue = (id: string) => Effect.Effect<unknown, unknown>

// The sweep uses the database's clock, which this process only estimates. The estimate may be late by this many ms.
const clockSlackMs = 250

/**
 * Returns the time of the event that a passed deadline causes: the local estimate of the database's clock. If this
 * estimate is slightly before the deadline, returns the deadline instead, because the machine would refuse an earlier
 * time.
 */
export const momentOf = (due: number, now: number): number =>
  due > now && due - now <= clockSlackMs ? due : now

const batchSize = 128
const concurrency = 8

/**
 * Sends an event to each entity whose deadline has passed by the database's clock. The deadlines are stored in the
 * database, and a local timer only starts the next sweep. So any process can handle a deadline, even if the process
 * that set it has stopped.
 */
export class Deadlines extends Context.Service<
  Deadlines,
  {
    register(kind: string, onDue: OnDue): void
    /** Schedules a sweep for this time (database's clock), if no earlier sweep is scheduled. */
    expect(at: number): void
    /**
     * Runs slow work for a deadline, such as a call to a payment provider, in the background. Does nothing if work
     * with the same name already runs.
     */
    aside(name: string, work: Effect.Effect<unknown, unknown>): Effect.Effect<void>
    /**
     * Runs one sweep and returns the number of due entities. Waits until all of them are handled and the work that
     * `aside` started has ended.
     */
    readonly sweep: Effect.Effect<number>
  }
>()("directory/Deadlines") {
  static readonly layer = (options: { readonly intervalMs: number }) =>
    Layer.effect(
      Deadlines,
      Effect.gen(function* () {
        const store = yield* EntityStore
        const handlers = new Map<string, OnDue>()
        const asides = yield* FiberMap.make<string, unknown, never>()
        const asideSlots = yield* Semaphore.make(concurrency)
        let wakeAt = Number.POSITIVE_INFINITY
        let wake: (() => void) | undefined

        // Failures are only logged. A refused event means that the entity changed after it was found due, so nothing is
        // left to do. After any other failure, the deadline is handled again by the first sweep that runs after the
        // entity's lease has expired.
        const tryOnce = (work: Effect.Effect<unknown, unknown>, name: unknown) =>
          Effect.catchCause(work, (cause) =>
            Cause.hasDies(cause)
              ? Effect.logError("deadline failed", name, cause)
              : Effect.logDebug("deadline not applied", name, cause),
          )

        const handle = (due: { readonly kind: string; readonly id: string }) =>
          tryOnce(handlers.get(due.kind)?.(due.id) ?? Effect.void, due)

        const round = Effect.gen(function* () {
          let handled = 0
          for (;;) {
            const due = yield* store.takeDue(batchSize)
            yield* Effect.forEach(due, handle, { concurrency, discard: true })
            handled += due.length
            if (due.length < batchSize) return handled
          }
        }).pipe(
          Effect.catch(() => Effect.succeed(0)),
          // A defect of one sweep must not end the loop that runs the sweeps.
          Effect.catchCause((cause) => Effect.as(Effect.logError("deadline sweep failed", cause), 0)),
        )

        const pause = Effect.callback<void>((resume) => {
          if (wakeAt <= store.now()) wakeAt = Number.POSITIVE_INFINITY
          const ms = Math.min(options.intervalMs, Math.max(5, wakeAt - store.now()))
          const timer = setTimeout(() => resume(Effect.void), ms)
          wake = () => {
            clearTimeout(timer)
            resume(Effect.void)
          }
          return Effect.sync(() => clearTimeout(timer))
        })

        yield* Effect.forkScoped(Effect.forever(Effect.andThen(pause, round)))

        return Deadlines.of({
          register: (kind, onDue) => void handlers.set(kind, onDue),
          expect: (at) => {
            if (at >= wakeAt) return
            wakeAt = at
            if (at - store.now() < options.intervalMs) wake?.()
          },
          aside: (name, work) => {
            const turn = asideSlots.withPermits(1)(tryOnce(work, name))
            return Effect.asVoid(FiberMap.run(asides, name, turn, { onlyIfMissing: true }))
          },
          sweep: Effect.tap(round, () => FiberMap.awaitEmpty(asides)),
        })
      }),
    )
}
