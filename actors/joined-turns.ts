import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../schema/errors.ts"
import type { JoinedEvent } from "../schema/turn.ts"
import type { IdsTaken, TurnCommit } from "./ports.ts"

/**
 * A turn of another entity, ready to be committed in the statement of the turn that caused it. It must not register or
 * move ids: cached responses are invalidated only for the ids of the turn that caused it.
 */
export interface JoinedTurn {
  readonly commit: TurnCommit
  /** Stores the new snapshot in memory. Call it after the commit. */
  readonly committed: () => void
}

/**
 * Decides the turn that the event causes and calls `use` with it. No other turn of that entity runs in this process
 * until `use` has ended. Fails with `IdsTaken` if the entity refuses the event.
 */
export type JoinTurn = <A, E, R>(
  event: JoinedEvent,
  use: (turn: JoinedTurn) => Effect.Effect<A, E, R>,
) => Effect.Effect<A, E | IdsTaken | Unavailable, R>

const byEntity = (a: JoinedEvent, b: JoinedEvent): number =>
  a.entity === b.entity ? (a.id < b.id ? -1 : 1) : a.entity < b.entity ? -1 : 1

/**
 * Finds the host of an entity that takes part in the turn of another entity. The turns are committed with one
 * statement, so a reader sees all of them or none.
 */
export class JoinedTurns extends Context.Service<
  JoinedTurns,
  {
    add(entity: string, join: JoinTurn): void
    /**
     * Calls `use` with the turns that these events cause, one turn per event. The entities are entered in a fixed
     * order, so two turns that join the same entities cannot wait for each other.
     */
    within<A, E, R>(
      events: ReadonlyArray<JoinedEvent>,
      use: (turns: ReadonlyArray<JoinedTurn>) => Effect.Effect<A, E, R>,
    ): Effect.Effect<A, E | IdsTaken | Unavailable, R>
  }
>()("directory/JoinedTurns") {
  static readonly layer = Layer.sync(JoinedTurns, () => {
    const hosts = new Map<string, JoinTurn>()
    const enter = <A, E, R>(
      [event, ...others]: ReadonlyArray<JoinedEvent>,
      use: (turns: ReadonlyArray<JoinedTurn>) => Effect.Effect<A, E, R>,
    ): Effect.Effect<A, E | IdsTaken | Unavailable, R> => {
      if (event === undefined) return use([])
      const join = hosts.get(event.entity)
      if (join === undefined) return Effect.die(new Error(`No host for the entity ${event.entity}.`))
      return join(event, (turn) => enter(others, (turns) => use([turn, ...turns])))
    }
    return JoinedTurns.of({
      add: (entity, join) => void hosts.set(entity, join),
      within: (events, use) => enter([...events].sort(byEntity), use),
    })
  })
}
