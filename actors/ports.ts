import { Context, type Effect } from "effect"
import type { Unavailable } from "../schema/errors.ts"
import type { TurnEffects } from "../schema/turn.ts"

export interface EntityRow {
  readonly version: number
  readonly value: unknown
  readonly context: unknown
  /** The version of the snapshot's format; absent in snapshots stored before they had one. */
  readonly format?: unknown
}

/** The columns of an entity that lists, indexes and the sweeper use. */
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
}

/** The offset of the last event of a channel. */
export interface ChannelPosition {
  readonly channel: string
  readonly offset: number
}

/** An event that this process has committed, with its offset. */
export interface PlacedEvent extends ChannelPosition {
  readonly type: string
  readonly data: unknown
  /** Null if the commit did not return it. */
  readonly epoch: string | null
  /** The time of the commit, in the format of the API. */
  readonly at: string
}

/** Another turn of this entity was committed first, possibly by another process. */
export interface VersionConflict {
  readonly _tag: "VersionConflict"
}
/** Ids that the turn claims are held by another order, lootbox, transfer or owner. */
export interface IdsTaken {
  readonly _tag: "IdsTaken"
  readonly canonicals: ReadonlyArray<string>
}
/** A limit in the database rejected the turn, for example the uses of a code or the free ids of a user. */
export interface LimitReached {
  readonly _tag: "LimitReached"
  readonly limit: string
}
/** A unique index rejected the turn, for example one open order per user. */
export interface UniqueConflict {
  readonly _tag: "UniqueConflict"
  readonly constraint: string
}
export type CommitFailure = VersionConflict | IdsTaken | LimitReached | UniqueConflict | Unavailable

export class EntityStore extends Context.Service<
  EntityStore,
  {
    load(kind: string, id: string): Effect.Effect<EntityRow | undefined, Unavailable>
    /** Returns the turn's events, or no events if the turn was already committed. */
    commit(turn: TurnCommit): Effect.Effect<ReadonlyArray<PlacedEvent>, CommitFailure>
    /** Entities whose deadline has passed by the database's clock. Each is leased to this caller for a short time. */
    takeDue(limit: number): Effect.Effect<ReadonlyArray<{ kind: string; id: string }>, Unavailable>
    /** Milliseconds since the epoch by the database's clock. */
    now(): number
    /** The longest time a statement can run, also after its client stopped waiting. */
    readonly statementMs: number
  }
>()("directory/EntityStore") {}

/** Announces commits. Its methods must return quickly and never fail. */
export class Publisher extends Context.Service<
  Publisher,
  {
    /** Publishes the events to subscribers in this process, and wakes subscribers in the other processes. */
    committed(events: ReadonlyArray<PlacedEvent>): void
    /** Wakes the subscribers of these channels in every process. */
    moved(positions: ReadonlyArray<ChannelPosition>): void
    /** Returns when no process serves responses about these ids from before the commit. */
    idsChanged(canonicals: ReadonlyArray<string>): Effect.Effect<void>
    /** The same for the cached accounts of these users. */
    accountsChanged(userIds: ReadonlyArray<string>): Effect.Effect<void>
    /** True while no other process can change entities. */
    alone(): boolean
  }
>()("directory/Publisher") {}
