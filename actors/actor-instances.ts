import { Effect } from "effect"
import { Unavailable } from "../schema/errors.ts"
import { BoundedMap } from "./bounded-map.ts"

/** One entity in memory: the last committed snapshot that this process knows, and the turns that wait. */
export interface ActorInstance<Loaded> {
  loaded: Loaded | undefined
  /** The generation of the database that `loaded` was read from or committed to. */
  generation: number
  /** The number of turns that run or wait in the queue. */
  waiting: number
  /** True while a turn runs, and until the next turn in the queue has started. */
  busy: boolean
  /** Functions that start the waiting turns, in the order of arrival. */
  readonly queue: Array<() => void>
}

export interface ActorInstanceLimits {
  readonly maxCells: number
  readonly mailboxLimit: number
}

/**
 * The actors in memory. If there are too many, the least recently used actors without turns are removed. Their
 * snapshots are stored in Postgres.
 */
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

  /** Removes the entity from memory. Does nothing while a turn of the entity runs or waits. */
  forget(id: string): void {
    if (this.#cells.get(id)?.waiting === 0) this.#cells.delete(id)
  }

  /**
   * Runs a turn of an entity. The turns of one entity run one at a time, in the order of arrival. A waiting turn can
   * be interrupted; a running turn always completes. Fails if too many turns wait.
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
    // A microtask starts the next turn. Otherwise a long queue of turns that end synchronously would overflow the
    // stack.
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
    const cell: ActorInstance<Loaded> = {
      loaded: undefined,
      generation: 0,
      waiting: 0,
      busy: false,
      queue: [],
    }
    this.#cells.set(id, cell)
    return cell
  }
}
