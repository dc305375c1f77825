import type postgres from "postgres"

/**
 * A connection counts as held up if its statement runs for longer than this. Such a statement may wait for a lock,
 * and later statements on the connection wait behind it. Other statements take a few milliseconds.
 */
export const heldUpMs = 100
/**
 * After the database has refused a connection, the pool waits this long before it uses that slot again, unless no other
 * slot is available.
 */
const refusedMs = 1000
/** When a client is closed, its running statements get this long to finish. Then its connection is terminated. */
const endSeconds = 2

/**
 * A client with one connection, and the number of statements that run on it. Times are read from a monotonic clock.
 */
class Connection {
  readonly #open: () => postgres.Sql
  #client: postgres.Sql
  #running = 0
  /** When the current statement began: when it was sent, or when the statement before it ended. */
  #since = 0
  #refusedAt = Number.NEGATIVE_INFINITY

  constructor(open: () => postgres.Sql) {
    this.#open = open
    this.#client = open()
  }

  get client(): postgres.Sql {
    return this.#client
  }

  isFree(now: number): boolean {
    return this.#running === 0 && !this.#isRefused(now)
  }

  isBetterThan(other: Connection, now: number): boolean {
    const isRefused = this.#isRefused(now)
    if (isRefused !== other.#isRefused(now)) return !isRefused
    const isHeldUp = this.#isHeldUp(now)
    if (isHeldUp !== other.#isHeldUp(now)) return !isHeldUp
    // If both have the same number of running statements, the connection that made progress most recently is better.
    return this.#running === other.#running ? this.#since > other.#since : this.#running < other.#running
  }

  #isHeldUp(now: number): boolean {
    return this.#running > 0 && now - this.#since > heldUpMs
  }

  #isRefused(now: number): boolean {
    return now - this.#refusedAt < refusedMs
  }

  begun(now: number): void {
    if (this.#running++ === 0) this.#since = now
  }

  answered(now: number): void {
    this.#running--
    this.#since = now
  }

  /**
   * Replaces a client whose connection broke during a statement. The broken client (postgres 3.4.9) still treats that
   * statement as current. If the server then refuses a new connection, the client reports no error and reconnects
   * without a pause, some hundred times a second.
   */
  renew(broken: postgres.Sql): void {
    if (this.#client !== broken) return
    this.#client = this.#open()
    broken.end({ timeout: endSeconds }).catch(() => {})
  }

  /** Records that the database refused to open the connection. */
  refused(now: number): void {
    this.#refusedAt = now
  }
}

/**
 * A pool with one client per connection. A single client with many connections (postgres 3.4.9) becomes slower and
 * slower. For each statement it searches a list for the connection. The list grows by one entry per statement and is
 * emptied only when all connections are in use. After a million statements each one takes half a millisecond more.
 */
export class Connections {
  readonly #all: ReadonlyArray<Connection>

  constructor(count: number, open: () => postgres.Sql) {
    this.#all = Array.from({ length: count }, () => new Connection(open))
  }

  /**
   * Returns the connection for the next statement: one that is not refused, not held up, and has the fewest running
   * statements. The first free connection is preferred, so that a further connection is opened only if it is needed.
   */
  next(now: number): Connection {
    let best = this.#all[0]!
    for (const one of this.#all) {
      if (best.isFree(now)) break
      if (one.isBetterThan(best, now)) best = one
    }
    return best
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.map(({ client }) => client.end({ timeout: endSeconds })))
  }
}
