import { Unavailable } from "../../../schema/errors.ts"

/** Told once, with what was read or with why nothing was. */
export type Waiter<Row> = (outcome: Row | undefined | Unavailable) => void

interface Load<Row> {
  readonly key: string
  readonly waiters: Array<Waiter<Row>>
  /** Something was committed about the key since the statement left: what it reads may be told, but not kept. */
  disowned: boolean
}

export interface PendingLoadsOptions<Row> {
  /** One statement for many keys. Calls back once. */
  readonly read: (
    keys: ReadonlyArray<string>,
    done: (rows: ReadonlyMap<string, Row> | Unavailable) => void,
  ) => void
  /** Remembers what may be remembered; undefined for a key that has no row. */
  readonly keep: (key: string, row: Row | undefined) => void
  /** Whether a read under way may be joined: only while invalidations reach this process. */
  readonly mayJoin: () => boolean
  readonly maxKeysPerStatement: number
  readonly maxStatements: number
  readonly maxWaitingKeys: number
}

/**
 * Cold reads: everybody who wants one key at once shares one read, and all keys wanted in one turn of the event loop share
 * one statement. While the statements allowed are under way the next keys gather, so a flood makes statements larger, not
 * more numerous.
 */
export class PendingLoads<Row> {
  readonly #options: PendingLoadsOptions<Row>
  readonly #gathered = new Map<string, Load<Row>>()
  readonly #underWay = new Map<string, Load<Row>>()
  #statements = 0
  #isScheduled = false

  constructor(options: PendingLoadsOptions<Row>) {
    this.#options = options
  }

  want(key: string, waiter: Waiter<Row>): void {
    const load = this.#gathered.get(key) ?? (this.#options.mayJoin() ? this.#underWay.get(key) : undefined)
    if (load !== undefined) {
      load.waiters.push(waiter)
      return
    }
    if (this.#gathered.size >= this.#options.maxWaitingKeys) {
      waiter(new Unavailable({ error: "Too many lookups are waiting.", retryAfterSeconds: 1 }))
      return
    }
    this.#gathered.set(key, { key, waiters: [waiter], disowned: false })
    this.#schedule()
  }

  /** What is still gathered will read after the commit; what is under way may not. */
  disown(keys: ReadonlyArray<string> | "all"): void {
    for (const key of keys === "all" ? [...this.#underWay.keys()] : keys) {
      const load = this.#underWay.get(key)
      if (load === undefined) continue
      load.disowned = true
      this.#underWay.delete(key)
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      while (this.#gathered.size > 0 && this.#statements < this.#options.maxStatements) this.#send()
    })
  }

  #send(): void {
    const batch: Array<Load<Row>> = []
    for (const [key, load] of this.#gathered) {
      batch.push(load)
      this.#gathered.delete(key)
      // Nobody can disown the earlier one any more, so it is not kept either.
      const earlier = this.#underWay.get(key)
      if (earlier !== undefined) earlier.disowned = true
      this.#underWay.set(key, load)
      if (batch.length === this.#options.maxKeysPerStatement) break
    }
    this.#statements++
    this.#options.read(
      batch.map(({ key }) => key),
      (rows) => {
        this.#statements--
        if (this.#gathered.size > 0) this.#schedule()
        for (const load of batch) this.#settle(load, rows)
      },
    )
  }

  #settle(load: Load<Row>, rows: ReadonlyMap<string, Row> | Unavailable): void {
    const { key } = load
    if (this.#underWay.get(key) === load) this.#underWay.delete(key)
    if (rows instanceof Unavailable) {
      for (const waiter of load.waiters) waiter(rows)
      return
    }
    const row = rows.get(key)
    if (!load.disowned) this.#options.keep(key, row)
    for (const waiter of load.waiters) waiter(row)
  }
}
