import { Effect } from "effect"
import { Unavailable } from "../schema/errors.ts"
import { BoundedMap } from "./bounded-map.ts"

/** One entity in memory: its state as of the last commit seen here, and those who have come for a turn. */
export interface ActorInstance<Loaded> {
  loaded: Loaded | undefined
  /** Turns running or waiting. */
  waiting: number
  /** A turn runs, or is just being handed on. */
  busy: boolean
  /** Each begins the turn of one who waits. */
  readonly queue: Array<() => void>
}

export interface ActorInstanceLimits {
  readonly maxCells: number
  readonly mailboxLimit: number
}

/** Activation on demand, passivation by least recent use. Any idle cell may go: Postgres is the truth. */
export class ActorInstances<Loaded> {
  readonly #cells: BoundedMap<ActorInstance<Loaded>>
  readonly #limits: ActorInstanceLimits
  #waiting = 0

  constructor(limits: ActorInstanceLimits) {
    this.#limits = limits
    this.#cells = new BoundedMap(limits.maxCells, ({ waiting }) => waiting === 0)
  }

  get waiting(): number {
    return this.#waiting
  }
  get size(): number {
    return this.#cells.size
  }

  find(id: string): ActorInstance<Loaded> | undefined {
    return this.#cells.get(id)
  }

  /** Not while a turn runs or waits. */
  forget(id: string): void {
    if (this.#cells.get(id)?.waiting === 0) this.#cells.delete(id)
  }

  /** Runs the turn alone among this entity's turns, in arrival order. Who waits may leave; a turn that runs is ended. */
  enter<A, E, R>(id: string, turn: (cell: ActorInstance<Loaded>) => Effect.Effect<A, E, R>) {
    return Effect.uninterruptibleMask((restore): Effect.Effect<A, E | Unavailable, R> => {
      const cell = this.#activate(id)
      if (cell.waiting >= this.#limits.mailboxLimit) {
        return Effect.fail(
          new Unavailable({ error: "Too many requests wait for this resource.", retryAfterSeconds: 1 }),
        )
      }
      cell.waiting++
      this.#waiting++
      const alone = Effect.onExitPrimitive(turn(cell), () => this.#end(cell))
      if (!cell.busy) {
        cell.busy = true
        return alone
      }
      return restore(
        Effect.callback<A, E, R>((resume) => {
          const begin = () => resume(Effect.uninterruptible(alone))
          cell.queue.push(begin)
          return Effect.sync(() => {
            cell.queue.splice(cell.queue.indexOf(begin), 1)
            this.#leave(cell)
          })
        }),
      )
    })
  }

  #leave(cell: ActorInstance<Loaded>): void {
    cell.waiting--
    this.#waiting--
  }

  #end(cell: ActorInstance<Loaded>): undefined {
    this.#leave(cell)
    // Later: a long queue of turns that are refused at once would be as deep a stack.
    if (cell.queue.length > 0) queueMicrotask(() => this.#handOn(cell))
    else cell.busy = false
  }

  #handOn(cell: ActorInstance<Loaded>): void {
    const begin = cell.queue.shift()
    if (begin === undefined) cell.busy = false
    else begin()
  }

  #activate(id: string): ActorInstance<Loaded> {
    const known = this.#cells.get(id)
    if (known !== undefined) {
      this.#cells.renew(id, known)
      return known
    }
    const cell: ActorInstance<Loaded> = { loaded: undefined, waiting: 0, busy: false, queue: [] }
    this.#cells.set(id, cell)
    return cell
  }
}
