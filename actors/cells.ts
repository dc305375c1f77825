import { Effect, Semaphore } from "effect"
import { Unavailable } from "../schema/errors.ts"
import { BoundedMap } from "./bounded-map.ts"

/** One entity in memory: its lock, and its state as of the last commit seen here. */
export interface Cell<Loaded> {
  readonly lock: Semaphore.Semaphore
  loaded: Loaded | undefined
  /** Turns running or waiting. */
  waiting: number
}

export interface CellLimits {
  readonly maxCells: number
  readonly mailboxLimit: number
}

/** Activation on demand, passivation by least recent use. Any idle cell may go: Postgres is the truth. */
export class Cells<Loaded> {
  readonly #cells: BoundedMap<Cell<Loaded>>
  readonly #limits: CellLimits
  #waiting = 0

  constructor(limits: CellLimits) {
    this.#limits = limits
    this.#cells = new BoundedMap(limits.maxCells, ({ waiting }) => waiting === 0)
  }

  get waiting(): number {
    return this.#waiting
  }
  get size(): number {
    return this.#cells.size
  }

  find(id: string): Cell<Loaded> | undefined {
    return this.#cells.get(id)
  }

  /** Not while a turn runs or waits. */
  forget(id: string): void {
    if (this.#cells.get(id)?.waiting === 0) this.#cells.delete(id)
  }

  /** Runs the turn alone among this entity's turns, in arrival order. */
  enter<A, E, R>(id: string, turn: (cell: Cell<Loaded>) => Effect.Effect<A, E, R>) {
    return Effect.suspend((): Effect.Effect<A, E | Unavailable, R> => {
      const cell = this.#activate(id)
      if (cell.waiting >= this.#limits.mailboxLimit) {
        return Effect.fail(
          new Unavailable({ error: "Too many requests wait for this resource.", retryAfterSeconds: 1 }),
        )
      }
      cell.waiting++
      this.#waiting++
      return cell.lock
        .withPermits(1)(turn(cell))
        .pipe(
          Effect.ensuring(
            Effect.sync(() => {
              cell.waiting--
              this.#waiting--
            }),
          ),
        )
    })
  }

  #activate(id: string): Cell<Loaded> {
    const known = this.#cells.get(id)
    if (known !== undefined) {
      this.#cells.renew(id, known)
      return known
    }
    const cell: Cell<Loaded> = { lock: Semaphore.makeUnsafe(1), loaded: undefined, waiting: 0 }
    this.#cells.set(id, cell)
    return cell
  }
}
