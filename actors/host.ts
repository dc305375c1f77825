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
import { Mailboxes } from "./mailboxes.ts"
import { type EntityColumns, EntityStore, Publisher } from "./ports.ts"
import { makeTransition } from "./transition.ts"

export interface Loaded<M extends AnyStateMachine> {
  readonly version: number
  readonly snapshot: SnapshotFrom<M>
}

export interface HostOptions<M extends AnyStateMachine> {
  readonly entity: string
  readonly machine: M
  /** The columns lists and the sweeper read, derived from the state. */
  readonly columns: (snapshot: SnapshotFrom<M>) => EntityColumns
  /** The account of the entity's owner shows where it stands. */
  readonly showsInAccount?: true
  /** Sent when `due_at` has passed by the database's clock. */
  readonly dueEvent?: (now: number) => EventFrom<M>
  /** What clients call the events they cause, to be told by a refusal. Events that are not there are none of theirs. */
  readonly operations?: Readonly<Partial<Record<EventFrom<M>["type"], string>>>
  readonly maxCells?: number
  readonly mailboxLimit?: number
}

export interface TurnOptions<M extends AnyStateMachine> {
  /** Creates the entity from this input when it does not exist. */
  readonly create?: InputFrom<M> | undefined
  /** Effects the machine cannot know, committed with the turn. */
  readonly also?: ((next: SnapshotFrom<M>) => TurnEffects) | undefined
}

// Another process can win the race for a version again and again; past this the caller is told to come back.
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

const stateName = (snapshot: AnyMachineSnapshot): string =>
  typeof snapshot.value === "string" ? snapshot.value : JSON.stringify(snapshot.value)

/** Event types the current state answers to, guards aside. */
export const allowedEvents = (snapshot: AnyMachineSnapshot): ReadonlyArray<string> => [
  ...new Set(getNextTransitions(snapshot).map((t) => t.eventType)),
]

/** One logical actor per entity id: activated on demand, one turn at a time, passivated when others need the room. */
export const makeHost = <M extends AnyStateMachine>(options: HostOptions<M>) =>
  Effect.gen(function* () {
    const store = yield* EntityStore
    const publisher = yield* Publisher
    const deadlines = yield* Deadlines
    const mailboxes = yield* Mailboxes
    const { entity, columns } = options
    const machine: AnyStateMachine = options.machine
    const turns = makeTransition(machine)
    const operations: Readonly<Record<string, string | undefined>> | undefined = options.operations
    const nameOf = (event: string) => (operations === undefined ? event : operations[event])
    const cells = new ActorInstances<Loaded<M>>({
      maxCells: options.maxCells ?? 20_000,
      mailboxLimit: options.mailboxLimit ?? 256,
    })

    const load = Effect.fnUntraced(function* (id: string) {
      const row = yield* store.load(entity, id)
      if (row === undefined) return undefined
      const snapshot = machine.resolveState({ value: row.value as never, context: row.context })
      return { version: row.version, snapshot: snapshot as SnapshotFrom<M> } satisfies Loaded<M>
    })

    const begin = Effect.fnUntracedEager(function* (create: InputFrom<M> | undefined) {
      if (create === undefined) return yield* new NotFound({ error: `There is no such ${entity}.` })
      const snapshot = turns.first(create) as SnapshotFrom<M>
      return { version: 0, snapshot } satisfies Loaded<M>
    })

    const decideOn = <E, R>(
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
            error: `The ${entity} is ${state}; it does not allow ${nameOf(event.type) ?? "this"}.`,
            details: { state, allowed: allowedEvents(snapshot).flatMap((type) => nameOf(type) ?? []) },
          }),
        )
      })

    const attempt = Effect.fnUntraced(function* <E, R>(
      id: string,
      cell: ActorInstance<Loaded<M>>,
      decide: (current: Loaded<M>, now: number) => Effect.Effect<EventFrom<M>, E, R>,
      turnOptions: TurnOptions<M>,
      isFirst: boolean,
    ) {
      const remembered = cell.loaded
      // What is to be created is hardly ever there already, and the commit finds out: no look beforehand.
      const isGuess = remembered === undefined && turnOptions.create !== undefined && isFirst
      const current =
        remembered ?? (isGuess ? undefined : yield* load(id)) ?? (yield* begin(turnOptions.create))
      const decision = decideOn(current, decide)
      // A refusal by memory may be out of date when other processes write: ask the database before refusing.
      const decided =
        !isGuess && (remembered === undefined || publisher.alone())
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
      const touched = [...(effects.grants ?? []), ...(effects.moves ?? [])].map((e) => e.canonical)
      const derived = columns(snapshot)
      const users = (effects.free_ids ?? []).map(({ user_id }) => user_id)
      if (options.showsInAccount && derived.owner_id !== null) users.push(derived.owner_id)
      const tellCaches = () =>
        Effect.andThen(
          touched.length > 0 ? publisher.idsChanged(touched) : Effect.void,
          users.length > 0 ? publisher.accountsChanged(users) : Effect.void,
        )
      // Forget first: if the write fails or its outcome is unknown, the next turn reads the truth.
      cell.loaded = undefined
      const commit = store.commit({
        kind: entity,
        id,
        turn: randomUUID(),
        expected: current.version,
        value: next.value,
        context: next.context,
        effects,
        columns: derived,
      })
      const events = yield* Effect.catchTags(commit, {
        VersionConflict: () => Effect.succeed(undefined),
        // Perhaps it is this very entity that another process begins at the same moment: the next look will tell.
        UniqueConflict: (conflict) => (isGuess ? Effect.succeed(undefined) : Effect.fail(conflict)),
        // Perhaps committed, perhaps about to be: nobody may serve from before either way.
        Unavailable: (failure) =>
          tellCaches().pipe(
            Effect.andThen(Effect.forkDetach(Effect.delay(tellCaches(), store.statementMs))),
            Effect.andThen(Effect.fail(failure)),
          ),
      })
      if (events === undefined) return undefined

      const loaded: Loaded<M> = { version: current.version + 1, snapshot }
      cell.loaded = loaded
      if (derived.due_at !== null) deadlines.expect(Date.parse(derived.due_at))
      // Caches first: who is told of a change and looks at once must not see the answer from before.
      if (touched.length + users.length > 0) yield* tellCaches()
      publisher.committed(events)
      return loaded
    })

    /** Decides on the current state, commits, and answers what the entity has become. */
    const turn = <E, R>(
      id: string,
      decide: (current: Loaded<M>, now: number) => Effect.Effect<EventFrom<M>, E, R>,
      turnOptions: TurnOptions<M> = {},
    ) =>
      cells.enter(id, (cell) => {
        const again = () =>
          Effect.gen(function* () {
            for (let tries = 1; tries < maxAttempts; tries++) {
              const loaded = yield* attempt(id, cell, decide, turnOptions, false)
              if (loaded !== undefined) return loaded
              // Unequal pauses let one of two contending processes through.
              yield* Effect.sleep(Math.random() * Math.min(maxPauseMs, 2 ** tries))
            }
            return yield* new Unavailable({ error: `The ${entity} is too busy.`, retryAfterSeconds: 1 })
          })
        return Effect.flatMap(attempt(id, cell, decide, turnOptions, true), (loaded) =>
          loaded === undefined ? again() : Effect.succeed(loaded),
        )
      })

    const send = (id: string, event: EventFrom<M>, turnOptions?: TurnOptions<M>) =>
      turn(id, () => Effect.succeed(event), turnOptions)

    /** The committed state by memory, which answers only while no other process can have changed it. */
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

    mailboxes.add(entity, () => ({ cells: cells.size, waiting: cells.waiting }))

    return {
      turn,
      send,
      find,
      remembered,
      /** Of an entity that will hardly be asked for again. */
      passivate: (id: string) => cells.forget(id),
      now: () => store.now(),
    }
  })
