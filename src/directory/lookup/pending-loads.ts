import { Unavailable } from "../../../schema/errors.ts"

/**
 * A callback that is called once: with the row of the key, with undefined if the key has no row, or with the failure.
 */
export type Waiter<Row> = (outcome: Row | undefined | Unavailable) => void

interface Load<Row> {
  readonly key: string
  readonly waiters: Array<Waiter<Row>>
  /**
   * True if the key may have changed after its statement was sent. The row is then returned to the waiters, but not
   * stored.
   */
  isInvalidated: boolean
}

export interface PendingLoadsOptions<Row> {
  /** Reads many keys with one statement and calls `done` once. */
  readonly read: (
    keys: ReadonlyArray<string>,
    done: (rows: ReadonlyMap<string, Row> | Unavailable) => void,
  ) => void
  /** Stores a row that is still current. `row` is undefined for a key without a row. */
  readonly store: (key: string, row: Row | undefined) => void
  /**
   * Whether a new request may use the result of a read that is already running. This is safe only while invalidations
   * reach this process, and no write of the key is running: another process may already have answered the new state.
   */
  readonly mayJoin: (key: string) => boolean
  readonly maxKeysPerStatement: number
  readonly maxStatements: number
  readonly maxWaitingKeys: number
}

/**
 * Reads keys that are not cached. Simultaneous requests for one key share one read, and all keys that are requested in
 * one iteration of the event loop share one statement. While the maximum number of statements is running, further keys
 * wait and are then read together. Under load, the statements therefore become larger, not more numerous.
 */
export class PendingLoads<Row> {
  readonly #options: PendingLoadsOptions<Row>
  readonly #waiting = new Map<string, Load<Row>>()
  readonly #running = new Map<string, Load<Row>>()
  #statements = 0
  #isScheduled = false

  constructor(options: PendingLoadsOptions<Row>) {
    this.#options = options
  }

  want(key: string, waiter: Waiter<Row>): void {
    const load = this.#waiting.get(key) ?? (this.#options.mayJoin(key) ? this.#running.get(key) : undefined)
    if (load !== undefined) {
      load.waiters.push(waiter)
      return
    }
    if (this.#waiting.size >= this.#options.maxWaitingKeys) {
      waiter(new Unavailable({ error: "Too many lookups are waiting. Retry later.", retryAfterSeconds: 1 }))
      return
    }
    this.#waiting.set(key, { key, waiters: [waiter], isInvalidated: false })
    this.#schedule()
  }

  /**
   * Must be called before and after each write that may change the keys. A waiting load will read the current state, so
   * it does not change. A running load may have read the old state, so its row will not be stored.
   */
  invalidate(keys: ReadonlyArray<string> | "all"): void {
    for (const key of keys === "all" ? [...this.#running.keys()] : keys) {
      const load = this.#running.get(key)
      if (load === undefined) continue
      load.isInvalidated = true
      this.#running.delete(key)
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      while (this.#waiting.size > 0 && this.#statements < this.#options.maxStatements) this.#send()
    })
  }

  #send(): void {
    const batch: Array<Load<Row>> = []
    for (const [key, load] of this.#waiting) {
      batch.push(load)
      this.#waiting.delete(key)
      // The new load replaces the earlier load of the same key in `#running`. From now on `invalidate` cannot find the
      // earlier load, so the row of the earlier load must not be stored.
      const earlier = this.#running.get(key)
      if (earlier !== undefined) earlier.isInvalidated = true
      this.#running.set(key, load)
      if (batch.length === this.#options.maxKeysPerStatement) break
    }
    this.#statements++
    this.#options.read(
      batch.map(({ key }) => key),
      (rows) => {
        this.#statements--
        if (this.#waiting.size > 0) this.#schedule()
        for (const load of batch) this.#settle(load, rows)
      },
    )
  }

  #settle(load: Load<Row>, rows: ReadonlyMap<string, Row> | Unavailable): void {
    const { key } = load
    if (this.#running.get(key) === load) this.#running.delete(key)
    if (rows instanceof Unavailable) {
      for (const waiter of load.waiters) waiter(rows)
      return
    }
    const row = rows.get(key)
    if (!load.isInvalidated) this.#options.store(key, row)
    for (const waiter of load.waiters) waiter(row)
  }
}
