import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import {
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type EventFrom,
  getNextTransitions,
  type InputFrom,
  type SnapshotFrom,
} from "xstate"
import { EventRefused, NotFound, Unavailable } from "../schema/errors.ts"
import { type TurnEffects, turnEffectKinds } from "../schema/turn.ts"
import { type ActorInstance, ActorInstances } from "./actor-instances.ts"
import { Deadlines, momentOf } from "./deadlines.ts"
import { type JoinedTurn, JoinedTurns } from "./joined-turns.ts"
import { Mailboxes } from "./mailboxes.ts"
import { type KeyCommit, keyCommitOf, Written } from "./operation.ts"
import { type EntityColumns, EntityStore, type IdsTaken, Publisher, type TurnCommit } from "./ports.ts"
import { makeReadSnapshot, type SnapshotFormat } from "./snapshots.ts"
import { inSpan } from "./spans.ts"
import { makeTransition } from "./transition.ts"

export interface Loaded<M extends AnyStateMachine> {
  readonly version: number
  readonly snapshot: SnapshotFrom<M>
}

export interface HostOptions<M extends AnyStateMachine> {
  readonly entity: string
  readonly machine: M
  readonly format: SnapshotFormat<M>
  /** Computes the table columns that lists and the deadline sweep read. */
  readonly columns: (snapshot: SnapshotFrom<M>) => EntityColumns
  /**
   * Set if the owner's account response shows the state of the entity. Each turn then invalidates the cached account.
   */
  readonly showsInAccount?: true
  /** Creates the event that is sent when `due_at` has passed by the database's clock. */
  readonly dueEvent?: (now: number) => EventFrom<M>
  /**
   * The API operation of each event, for error responses. An error response lists only events that have an entry here.
   * If this option is not set, it lists the types of all allowed events.
   */
  readonly operations?: Readonly<Partial<Record<EventFrom<M>["type"], string>>>
  readonly maxCells?: number
  readonly mailboxLimit?: number
}

/** Runs the commit of a turn as a part of a larger change. */
export type WrapCommit = <A, E>(commit: Effect.Effect<A, E>) => Effect.Effect<A, E | Unavailable>

export interface TurnOptions<M extends AnyStateMachine, T = undefined> {
  /** Creates the entity from this input if it does not exist. */
  readonly create?: InputFrom<M> | undefined
  /** Computes additional effects, which the machine does not know. They are committed with the turn. */
  readonly also?: ((next: SnapshotFrom<M>) => TurnEffects) | undefined
  /**
   * The outcome of the request, if this turn completes it: what the response needs, as a JSON value. It is committed
   * with the Idempotency-Key of the request. If it is undefined, another turn completes the request.
   */
  readonly outcome?: ((next: SnapshotFrom<M>) => T) | undefined
  /** Returns a function that wraps the commit, for a turn that changes more cached data than its effects say. */
  readonly within?: ((next: SnapshotFrom<M>) => WrapCommit) | undefined
}

/** A committed turn: the new snapshot, and the outcome of the request if the turn completes it. */
export interface CommittedTurn<M extends AnyStateMachine, T> extends Loaded<M> {
  readonly written: Written<T>
}

// Another process can commit a turn of the entity first, several times in a row. After this many attempts the request
// fails with 503.
const maxAttempts = 12
const maxPauseMs = 20

const collectEffects = (
  actions: ReadonlyArray<{ readonly type: string; readonly params?: unknown }>,
  also: TurnEffects | undefined,
): TurnEffects => {
  const effects: Record<string, ReadonlyArray<unknown>> = {}
  const add = (kind: string, list: unknown) => {
    if (!Array.isArray(list) || list.length === 0) return
    const before = effects[kind]
    effects[kind] = before === undefined ? list : [...before, ...list]
  }
  for (const action of actions)
    if (turnEffectKinds.includes(action.type as never)) add(action.type, action.params)
  for (const kind in also) add(kind, also[kind as keyof TurnEffects])
  return effects
}

/** The ids whose cached responses a turn changes. */
const idsChangedBy = ({ grants = [], moves = [], revokes = [] }: TurnEffects): ReadonlyArray<string> =>
  [...grants, ...moves, ...revokes].map(({ canonical }) => canonical)

const stateName = (snapshot: AnyMachineSnapshot): string =>
  typeof snapshot.value === "string" ? snapshot.value : JSON.stringify(snapshot.value)

/** The types of the events for which the current state has a transition. Guards are not evaluated. */
export const allowedEvents = (snapshot: AnyMachineSnapshot): ReadonlyArray<string> => [
  ...new Set(getNextTransitions(snapshot).map((t) => t.eventType)),
]

/**
 * Hosts the actors of one kind of entity, one actor per entity id. An actor is created when it is needed, runs one
 * turn at a time, and is removed when memory is needed.
 */
export const makeHost = <M extends AnyStateMachine>(options: HostOptions<M>) =>
  Effect.gen(function* () {
    const store = yield* EntityStore
    const publisher = yield* Publisher
    const deadlines = yield* Deadlines
    const mailboxes = yield* Mailboxes
    const joinedTurns = yield* JoinedTurns
    const { entity, columns } = options
    const machine: AnyStateMachine = options.machine
    const turnName = `turn ${entity}`
    const turns = makeTransition(machine)
    const readSnapshot = makeReadSnapshot(entity, options.machine, options.format)
    const operations: Readonly<Record<string, string | undefined>> | undefined = options.operations
    const nameOf = (event: string) => (operations === undefined ? event : operations[event])
    const cells = new ActorInstances<Loaded<M>>({
      maxCells: options.maxCells ?? 20_000,
      mailboxLimit: options.mailboxLimit ?? 256,
    })

    const load = Effect.fnUntraced(function* (id: string) {
      const row = yield* store.load(entity, id)
      if (row === undefined) return undefined
      const snapshot = (yield* readSnapshot(id, row)) as SnapshotFrom<M>
      return { version: row.version, snapshot } satisfies Loaded<M>
    })

    const first = (input: unknown): Loaded<M> => ({
      version: 0,
      snapshot: turns.first(input) as SnapshotFrom<M>,
    })

    const begin = Effect.fnUntracedEager(function* (create: InputFrom<M> | undefined) {
      if (create === undefined)
        return yield* new NotFound({ error: `${entity[0]!.toUpperCase()}${entity.slice(1)} not found.` })
      return first(create)
    })

    const nextState = <E, R>(
      current: Loaded<M>,
      decide: (current: Loaded<M>, now: number) => Effect.Effect<EventFrom<M>, E, R>,
    ) =>
      Effect.flatMapEager(decide(current, store.now()), (event: AnyEventObject) => {
        const snapshot = current.snapshot as AnyMachineSnapshot
        const next = turns.next(snapshot, event)
        if (next !== undefined) return Effect.succeed(next)
        const state = stateName(snapshot)
        return Effect.fail(
          new EventRefused({
            error: `The ${entity} is in state ${state}, which does not allow ${nameOf(event.type) ?? "this"}.`,
            details: { state, allowed: allowedEvents(snapshot).flatMap((type) => nameOf(type) ?? []) },
          }),
        )
      })

    const commitOf = (
      id: string,
      expected: number,
      next: AnyMachineSnapshot,
      effects: TurnEffects,
      derived: EntityColumns,
      key?: KeyCommit | undefined,
    ): TurnCommit => ({
      kind: entity,
      id,
      turn: randomUUID(),
      expected,
      value: options.format.states?.write(stateName(next)) ?? next.value,
      context: next.context,
      format: options.format.version,
      effects,
      columns: derived,
      key,
    })

    /** Commits a turn and the turns of other entities that it causes. */
    const commitTogether = (own: TurnCommit, turns: ReadonlyArray<JoinedTurn>) =>
      Effect.tap(store.commit({ ...own, joined: turns.map(({ commit }) => commit) }), () =>
        Effect.sync(() => {
          for (const { committed } of turns) committed()
        }),
      )

    const attempt = Effect.fnUntraced(function* <E, R, T>(
      id: string,
      cell: ActorInstance<Loaded<M>>,
      decide: (current: Loaded<M>, now: number) => Effect.Effect<EventFrom<M>, E, R>,
      turnOptions: TurnOptions<M, T>,
      isFirst: boolean,
    ) {
      const generation = store.generation()
      const remembered = cell.generation === generation ? cell.loaded : undefined
      // A turn that may create the entity usually creates it. So the first attempt does not read the database. If the
      // entity already exists, the commit detects it.
      const skipsRead = remembered === undefined && turnOptions.create !== undefined && isFirst
      const current =
        remembered ?? (skipsRead ? undefined : yield* load(id)) ?? (yield* begin(turnOptions.create))
      const decision = nextState(current, decide)
      // If other processes write, the snapshot in memory can be outdated. If the read was skipped, the entity can
      // already exist. In both cases a refusal is not final: the next attempt reads the database and decides again.
      const decided =
        !skipsRead && (remembered === undefined || publisher.alone())
          ? yield* decision
          : yield* decision.pipe(
              Effect.catch(() => {
                cell.loaded = undefined
                return Effect.as(Effect.void, undefined)
              }),
            )
      if (decided === undefined) return undefined

      const [next, actions] = decided
      const snapshot = next as SnapshotFrom<M>
      const effects = collectEffects(actions, turnOptions.also?.(snapshot))
      const touched = idsChangedBy(effects)
      const derived = columns(snapshot)
      const users = (effects.free_ids ?? []).map(({ user_id }) => user_id)
      if (options.showsInAccount && derived.owner_id !== null) users.push(derived.owner_id)
      const outcome = turnOptions.outcome?.(snapshot) as T
      const key = outcome === undefined ? undefined : yield* keyCommitOf(outcome)
      // The snapshot is removed before the write. If the write fails or its outcome is unknown, the next turn reads
      // the database.
      cell.loaded = undefined
      const own = commitOf(id, current.version, next, effects, derived, key)
      const { joined } = effects
      const within = turnOptions.within?.(snapshot) ?? ((commit) => commit)
      const changing = publisher.changing({ ids: touched, users })
      const committing = <A, E2>(commit: Effect.Effect<A, E2>) => changing(within(commit))
      const commit =
        joined === undefined
          ? committing(store.commit(own))
          : joinedTurns.within(joined, (turns) => committing(commitTogether(own, turns)))
      const events = yield* Effect.catchTags(commit, {
        VersionConflict: () => Effect.succeed(undefined),
        // Another process may have created this entity. The next attempt reads the database.
        UniqueConflict: (conflict) => (skipsRead ? Effect.succeed(undefined) : Effect.fail(conflict)),
      })
      if (events === undefined) return undefined

      const loaded: Loaded<M> = { version: current.version + 1, snapshot }
      cell.loaded = loaded
      cell.generation = generation
      if (derived.due_at !== null) deadlines.expect(Date.parse(derived.due_at))
      yield* inSpan(
        "publish",
        { events: events.length },
        Effect.sync(() => publisher.committed(events)),
      )
      return { ...loaded, written: new Written(outcome) } satisfies CommittedTurn<M, T>
    })

    /** Runs a turn: decides the event for the current state, commits it, and returns the new snapshot. */
    const turn = <E, R, T = undefined>(
      id: string,
      decide: (current: Loaded<M>, now: number) => Effect.Effect<EventFrom<M>, E, R>,
      turnOptions: TurnOptions<M, T> = {},
    ) =>
      inSpan(
        turnName,
        { entity, id },
        cells.enter(id, (cell) => {
          const again = () =>
            Effect.gen(function* () {
              for (let tries = 1; tries < maxAttempts; tries++) {
                const loaded = yield* attempt(id, cell, decide, turnOptions, false)
                if (loaded !== undefined) return loaded
                // The pause is random, so that one of two competing processes commits before the other one tries again.
                yield* Effect.sleep(Math.random() * Math.min(maxPauseMs, 2 ** tries))
              }
              return yield* new Unavailable({
                error: `Too many concurrent changes of this ${entity}. Retry the request.`,
                retryAfterSeconds: 1,
              })
            })
          return Effect.flatMap(attempt(id, cell, decide, turnOptions, true), (loaded) =>
            loaded === undefined ? again() : Effect.succeed(loaded),
          )
        }),
      )

    const send = <T = undefined>(id: string, event: EventFrom<M>, turnOptions?: TurnOptions<M, T>) =>
      turn(id, () => Effect.succeed(event), turnOptions)

    /**
     * The committed snapshot in memory. Undefined if there is none, or if another process can have changed the
     * entity.
     */
    const remembered = (id: string) => (publisher.alone() ? cells.find(id)?.loaded : undefined)

    const find = (id: string) =>
      Effect.suspend(() => {
        const loaded = remembered(id)
        return loaded === undefined ? load(id) : Effect.succeed(loaded)
      })

    const { dueEvent } = options
    if (dueEvent !== undefined) {
      deadlines.register(entity, (id) =>
        turn(id, ({ snapshot }, now) => {
          const due = Date.parse(columns(snapshot).due_at ?? "")
          return Effect.succeed(dueEvent(momentOf(due, now)))
        }),
      )
    }

    joinedTurns.add(entity, (caused, use) =>
      cells.enter(caused.id, (cell) =>
        Effect.gen(function* () {
          const generation = store.generation()
          const known = publisher.alone() ? cell.loaded : undefined
          const current =
            caused.create === undefined ? (known ?? (yield* load(caused.id))) : first(caused.create)
          const decided = current && turns.next(current.snapshot as AnyMachineSnapshot, caused.event)
          if (current === undefined || decided === undefined) {
            const refused: IdsTaken = { _tag: "IdsTaken", canonicals: [caused.claim] }
            return yield* Effect.fail(refused)
          }
          const [next, actions] = decided
          const snapshot = next as SnapshotFrom<M>
          const commit = commitOf(
            caused.id,
            current.version,
            next,
            collectEffects(actions, undefined),
            columns(snapshot),
          )
          cell.loaded = undefined
          const { due_at } = commit.columns
          const committed = () => {
            cell.loaded = { version: current.version + 1, snapshot }
            cell.generation = generation
            if (due_at !== null) deadlines.expect(Date.parse(due_at))
          }
          return yield* use({ commit, committed })
        }),
      ),
    )

    mailboxes.add(entity, () => ({ cells: cells.size, waiting: cells.waiting }))

    return {
      turn,
      send,
      find,
      remembered,
      /** Removes an entity from memory. For entities that are probably not needed again. */
      passivate: (id: string) => cells.forget(id),
      now: () => store.now(),
    }
  })
