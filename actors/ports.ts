import { Context, type Effect } from "effect"
import type { Unavailable } from "../schema/errors.ts"
import type { TurnEffects } from "../schema/turn.ts"
import type { KeyCommit } from "./operation.ts"

export interface EntityRow {
  readonly version: number
  readonly value: unknown
  readonly context: unknown
  /** The version of the snapshot's format. Undefined in old snapshots that were stored without a version. */
  readonly format?: unknown
}

/** The table columns of an entity. Lists, indexes and the deadline sweep use them. */
export interface EntityColumns {
  readonly status: string
  readonly owner_id: string | null
  readonly peer_id: string | null
  readonly subject: string | null
  readonly due_at: string | null
}

export interface TurnCommit {
  readonly kind: string
  readonly id: string
  readonly turn: string
  readonly expected: number
  readonly value: unknown
  readonly context: unknown
  readonly format: number
  readonly effects: TurnEffects
  readonly columns: EntityColumns
  /** The Idempotency-Key of the request that the turn completes, with the outcome of the request. */
  readonly key?: KeyCommit | undefined
  /** Turns of other entities that are committed with this one, or not at all. */
  readonly joined?: ReadonlyArray<TurnCommit>
}

/** A channel and the offset of its last event. */
export interface ChannelPosition {
  readonly channel: string
  readonly offset: number
}

/** An event that this process has committed, with its offset. */
export interface PlacedEvent extends ChannelPosition {
  readonly type: string
  readonly data: unknown
  readonly epoch: string
  /** The time of the commit, in the format of the API. */
  readonly at: string
}

/** The commit failed because another turn of the entity was committed first, possibly by another process. */
export interface VersionConflict {
  readonly _tag: "VersionConflict"
}
/** The commit failed because ids that the turn claims are held by another order, lootbox, transfer or owner. */
export interface IdsTaken {
  readonly _tag: "IdsTaken"
  readonly canonicals: ReadonlyArray<string>
}
/**
 * The commit failed because of a check in the database: a limit is reached, for example the uses of a code or the free
 * ids of a user, or a user or key no longer exists.
 */
export interface LimitReached {
  readonly _tag: "LimitReached"
  readonly limit: string
}
/** The commit failed because of a unique index, for example the index that allows one open order per user. */
export interface UniqueConflict {
  readonly _tag: "UniqueConflict"
  readonly constraint: string
}
export type CommitFailure = VersionConflict | IdsTaken | LimitReached | UniqueConflict | Unavailable

export class EntityStore extends Context.Service<
  EntityStore,
  {
    load(kind: string, id: string): Effect.Effect<EntityRow | undefined, Unavailable>
    /** Commits a turn and returns its events. Returns no events if the same turn was already committed. */
    commit(turn: TurnCommit): Effect.Effect<ReadonlyArray<PlacedEvent>, CommitFailure>
    /**
     * Returns entities whose deadline has passed by the database's clock. Each is leased to the caller for a short
     * time, so that no other process handles it.
     */
    takeDue(limit: number): Effect.Effect<ReadonlyArray<{ kind: string; id: string }>, Unavailable>
    /** The database's clock, in milliseconds since 1970. */
    now(): number
    /** Changes when the database may have lost commits. Snapshots of another generation are read again. */
    generation(): number
    /**
     * The maximum time in milliseconds that a statement can run, even after its client has stopped waiting for it.
     */
    readonly statementMs: number
  }
>()("directory/EntityStore") {}

export interface Changed {
  readonly ids?: ReadonlyArray<string>
  readonly users?: ReadonlyArray<string>
}

/** Announces committed changes. Its methods must return quickly and must not fail. */
export class Publisher extends Context.Service<
  Publisher,
  {
    /** Publishes the events to subscribers in this process, and wakes subscribers in the other processes. */
    committed(events: ReadonlyArray<PlacedEvent>): void
    /** Wakes the subscribers of these channels in every process. They read the new events from the database. */
    moved(positions: ReadonlyArray<ChannelPosition>): void
    /**
     * Runs a commit that changes these ids and the accounts of these users. When it is committed, no process caches
     * responses from before.
     */
    changing(
      changed: Changed,
    ): <A, E, R>(commit: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>
    /** True while no other process can change entities, so that a snapshot in memory is always current. */
    alone(): boolean
  }
>()("directory/Publisher") {}
