import { Effect } from "effect"
import { Unavailable } from "../schema/errors.ts"
import { BoundedMap } from "./bounded-map.ts"

/** One entity in memory: its last committed snapshot that this process knows, and its queue of turns. */
export interface ActorInstance<Loaded> {
  loaded: Loaded | undefined
  /** The number of turns that run or wait. */
  waiting: number
  /** A turn runs, or the next one is about to start. */
  busy: boolean
  /** Each function starts a waiting turn. */
  readonly queue: Array<() => void>
}

export interface ActorInstanceLimits {
  readonly maxCells: number
  readonly mailboxLimit: number
}

/** The actors in memory. The least recently used idle actors are removed first; Postgres has their snapshots. */
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

  /** Removes the entity from memory, unless a turn runs or waits. */
  forget(id: string): void {
    if (this.#cells.get(id)?.waiting === 0) this.#cells.delete(id)
  }

  /**
   * Runs the turns of an entity one at a time, in the order of arrival. A waiting turn can be interrupted; a running
   * turn always completes.
   */
  enter<A, E, R>(id: string, turn: (cell: ActorInstance<Loaded>) => Effect.Effect<A, E, R>) {
    return Effect.uninterruptibleMask((restore): Effect.Effect<A, E | Unavailable, R> => {
      const cell = this.#activate(id)
      if (cell.waiting >= this.#limits.mailboxLimit) {
        return Effect.fail(
          new Unavailable({
            error: "Too many requests are waiting for this resource. Retry the request.",
            retryAfterSeconds: 1,
          }),
        )
      }
      cell.waiting++
      this.#waiting++
      const exclusive = Effect.onExitPrimitive(turn(cell), () => this.#end(cell))
      if (!cell.busy) {
        cell.busy = true
        return exclusive
      }
      return restore(
        Effect.callback<A, E, R>((resume) => {
          const begin = () => resume(Effect.uninterruptible(exclusive))
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
    // In a microtask: a long queue of turns that are refused synchronously would otherwise overflow the stack.
    if (cell.queue.length > 0) queueMicrotask(() => this.#startNext(cell))
    else cell.busy = false
  }

  #startNext(cell: ActorInstance<Loaded>): void {
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
