import { Context, type Effect } from "effect"
import type { Unavailable } from "../schema/errors.ts"
import type { TurnEffects } from "../schema/turn.ts"

export interface EntityRow {
  readonly version: number
  readonly value: unknown
  readonly context: unknown
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
  readonly effects: TurnEffects
  readonly columns: EntityColumns
}

/** How far a channel has come. */
export interface ChannelPosition {
  readonly channel: string
  readonly offset: number
}

/** An event that this process has committed, and its place. */
export interface PlacedEvent extends ChannelPosition {
  readonly type: string
  readonly data: unknown
  /** Null where the commit did not say. */
  readonly epoch: string | null
  /** When it was committed, as clients are told. */
  readonly at: string
}

/** Another turn of this entity was committed first, perhaps by another process. */
export interface VersionConflict {
  readonly _tag: "VersionConflict"
}
/** Ids the turn wanted are held by someone else. */
export interface IdsTaken {
  readonly _tag: "IdsTaken"
  readonly canonicals: ReadonlyArray<string>
}
/** A limit kept by the database refused the turn: uses of a code, free ids of a user. */
export interface LimitReached {
  readonly _tag: "LimitReached"
  readonly limit: string
}
/** A uniqueness rule over entities refused the turn, such as one open order per user. */
export interface UniqueConflict {
  readonly _tag: "UniqueConflict"
  readonly constraint: string
}
export type CommitFailure = VersionConflict | IdsTaken | LimitReached | UniqueConflict | Unavailable

export class EntityStore extends Context.Service<
  EntityStore,
  {
    load(kind: string, id: string): Effect.Effect<EntityRow | undefined, Unavailable>
    /** The turn's events; none when the turn had been committed before. */
    commit(turn: TurnCommit): Effect.Effect<ReadonlyArray<PlacedEvent>, CommitFailure>
    /** Entities whose time has come by the database's clock; each is leased to this caller for a while. */
    takeDue(limit: number): Effect.Effect<ReadonlyArray<{ kind: string; id: string }>, Unavailable>
    /** Milliseconds since the epoch by the database's clock, whatever this machine's clock says. */
    now(): number
    /** The longest a statement runs, also one that its client gave up. */
    readonly statementMs: number
  }
>()("directory/EntityStore") {}

/** Told after each commit; must return quickly and never fail. */
export class Publisher extends Context.Service<
  Publisher,
  {
    /** Shows the events to their subscribers in this process, and wakes those in the others. */
    committed(events: ReadonlyArray<PlacedEvent>): void
    /** Wakes the subscribers of these channels in every process. */
    moved(positions: ReadonlyArray<ChannelPosition>): void
    /** Returns once no process serves an answer about these ids from before the commit. */
    idsChanged(canonicals: ReadonlyArray<string>): Effect.Effect<void>
    /** The same of what these users' accounts show. */
    accountsChanged(userIds: ReadonlyArray<string>): Effect.Effect<void>
    /** True while no other process can be changing entities. */
    alone(): boolean
  }
>()("directory/Publisher") {}
