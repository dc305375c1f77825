import { Context, Effect, Layer } from "effect"
import { type ChannelPosition, Publisher } from "../../actors/ports.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { invalidateAfterUnknownOutcome } from "../cluster/invalidate-after-unknown-outcome.ts"
import { AppConfig } from "../config/config.ts"

/** Changes of ids outside a state machine's turn: commit, then let every process forget, then wake subscribers. */
export class IdChanges extends Context.Service<
  IdChanges,
  {
    /** Answers the outcome once no process serves the id as it was before. An outcome without events changed nothing. */
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
              // Caches first: who is told of a change and looks at once must not see the answer from before.
              return Effect.map(publisher.idsChanged([canonical]), () => publisher.moved(events))
            }),
            // A client that leaves in between must not leave a stale answer behind.
            Effect.uninterruptible,
          ),
      })
    }),
  )
}
