import { Context, Effect, FiberMap, Layer, Semaphore } from "effect"
import { EntityStore } from "./ports.ts"

type OnDue = (id: string) => Effect.Effect<unknown, unknown>

// The sweeper goes by the database's clock itself, this process by its estimate of it.
const clockSlackMs = 250

/** The time at which something happens that the database calls due: not a moment before it. */
export const momentOf = (due: number, now: number): number =>
  due > now && due - now <= clockSlackMs ? due : now

const batchSize = 128
const concurrency = 8

/**
 * Turns rows whose time has come into ordinary events. The database's clock decides; the local timer is only a
 * wake-up, so a deadline is kept even when the process that set it is gone.
 */
export class Deadlines extends Context.Service<
  Deadlines,
  {
    register(kind: string, onDue: OnDue): void
    /** A deadline (by the database's clock) to wake up for before the next round. */
    expect(at: number): void
    /** Work of a deadline that waits for others, such as a provider: no deadline waits for it. One of a name at a time. */
    aside(name: string, work: Effect.Effect<unknown, unknown>): Effect.Effect<void>
    /** One round: everything due now is handled when it returns, and what was put aside is done. */
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
        const asidesAtOnce = yield* Semaphore.make(concurrency)
        let wakeAt = Number.POSITIVE_INFINITY
        let wake: (() => void) | undefined

        // A refusal means the entity has moved on; anything else is tried again when the lease runs out.
        const tryOnce = (work: Effect.Effect<unknown, unknown>, name: unknown) =>
          Effect.catchCause(work, (cause) => Effect.logDebug("deadline not applied", name, cause))

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
          // Nobody would ever look again if one look that went wrong ended them all.
          Effect.catchCause((cause) => Effect.as(Effect.logError("deadlines not looked for", cause), 0)),
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
            const turn = asidesAtOnce.withPermits(1)(tryOnce(work, name))
            return Effect.asVoid(FiberMap.run(asides, name, turn, { onlyIfMissing: true }))
          },
          sweep: Effect.tap(round, () => FiberMap.awaitEmpty(asides)),
        })
      }),
    )
}
