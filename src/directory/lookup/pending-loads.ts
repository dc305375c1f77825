import { Unavailable } from "../../../schema/errors.ts"

/** Called once, with the row (undefined if there is none) or with the failure. */
export type Waiter<Row> = (outcome: Row | undefined | Unavailable) => void

interface Load<Row> {
  readonly key: string
  readonly waiters: Array<Waiter<Row>>
  /** The key was changed after the statement was sent. The row is returned to the waiters, but not stored. */
  isInvalidated: boolean
}

export interface PendingLoadsOptions<Row> {
  /** Reads many keys with one statement. Calls `done` once. */
  readonly read: (
    keys: ReadonlyArray<string>,
    done: (rows: ReadonlyMap<string, Row> | Unavailable) => void,
  ) => void
  /** Stores a row that is still current; undefined for a key without a row. */
  readonly store: (key: string, row: Row | undefined) => void
  /** Whether a request may join a running read: only while invalidations reach this process. */
  readonly mayJoin: () => boolean
  readonly maxKeysPerStatement: number
  readonly maxStatements: number
  readonly maxWaitingKeys: number
}

/**
 * Reads keys that are not cached. Simultaneous requests for one key share one read, and all keys requested in one turn
 * of the event loop share one statement. While the maximum number of statements is running, further keys are collected.
 * Under load, statements become larger, not more numerous.
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
    const load = this.#waiting.get(key) ?? (this.#options.mayJoin() ? this.#running.get(key) : undefined)
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

  /** Call after a commit. Waiting loads will read the new state; running loads may have read the old one. */
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
      // `invalidate` can no longer reach the earlier load of this key, so its row must not be stored.
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
