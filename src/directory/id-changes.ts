import { Context, Effect, Layer } from "effect"
import { type ChannelPosition, Publisher } from "../../actors/ports.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { invalidateAfterUnknownOutcome } from "../cluster/invalidate-after-unknown-outcome.ts"
import { AppConfig } from "../config/config.ts"

/**
 * Commits changes of an id that are not part of a turn. After the commit, every process removes the id from its cache,
 * and subscribers of the id receive the new events.
 */
export class IdChanges extends Context.Service<
  IdChanges,
  {
    /**
     * Runs the statement and returns its outcome. If the outcome contains events, the id has changed, and every process
     * removes its cached response before this function returns.
     */
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
              // The caches are invalidated before the events are published: a subscriber who looks the id up after the
              // event must not get the old response.
              return Effect.map(publisher.idsChanged([canonical]), () => publisher.moved(events))
            }),
            // If the client disconnects while the statement runs, the caches must still be invalidated.
            Effect.uninterruptible,
          ),
      })
    }),
  )
}
