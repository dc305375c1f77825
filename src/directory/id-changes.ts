import { Context, Effect, Layer } from "effect"
import { type ChannelPosition, Publisher } from "../../actors/ports.ts"
import type { Unavailable } from "../../schema/errors.ts"

/**
 * Commits changes of an id that are not part of a turn. Every process removes the id from its cache before the commit.
 * After it, subscribers of the id receive the new events.
 */
export class IdChanges extends Context.Service<
  IdChanges,
  {
    /**
     * Runs the statement and returns its outcome. If the outcome contains events, the id has changed.
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

      return IdChanges.of({
        commit: (canonical, statement) =>
          statement.pipe(
            publisher.changing({ ids: [canonical] }),
            Effect.tap((outcome) => {
              const { events } = outcome as { readonly events?: ReadonlyArray<ChannelPosition> }
              if (events !== undefined) publisher.moved(events)
              return Effect.void
            }),
            // If the client disconnects while the statement runs, the events must still be published.
            Effect.uninterruptible,
          ),
      })
    }),
  )
}
