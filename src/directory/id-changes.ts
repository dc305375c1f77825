import { Context, Effect, Layer } from "effect"
import { type ChannelPosition, Publisher } from "../../actors/ports.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { invalidateAfterUnknownOutcome } from "../cluster/invalidate-after-unknown-outcome.ts"
import { AppConfig } from "../config/config.ts"

/** Commits changes of ids outside a turn. Then it invalidates the id in every process and wakes subscribers. */
export class IdChanges extends Context.Service<
  IdChanges,
  {
    /** Returns the outcome after every process has dropped the old state. An outcome without events changed nothing. */
    commit<A extends object>(
      canonical: string,
      statement: Effect.Effect<A, Unavailable>,
    ): Effect.Effect<A, Unavailable>
  }
>()("directory/IdChanges") {
  static readonly layer = Layer.effect(
    IdChanges,
    Effect.gen(function* () {
      const publisher = yield* Publisher
      const { statementTimeoutMs } = yield* AppConfig

      return IdChanges.of({
        commit: (canonical, statement) =>
          statement.pipe(
            Effect.tapError(() =>
              invalidateAfterUnknownOutcome(publisher.idsChanged([canonical]), statementTimeoutMs),
            ),
            Effect.tap((outcome) => {
              const { events } = outcome as { readonly events?: ReadonlyArray<ChannelPosition> }
              if (events === undefined) return Effect.void
              // Caches first: a subscriber who looks the id up after the event must not see the old response.
              return Effect.map(publisher.idsChanged([canonical]), () => publisher.moved(events))
            }),
            // If the client disconnects meanwhile, the caches must still be invalidated.
            Effect.uninterruptible,
          ),
      })
    }),
  )
}
