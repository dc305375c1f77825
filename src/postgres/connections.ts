import type postgres from "postgres"

/**
 * Statements take a few milliseconds. One that takes this long may wait for a lock, and later statements wait behind
 * it.
 */
export const heldUpMs = 100
/** After a refused connection, the connection is not used for this time if another one is available. */
const refusedMs = 1000
/** The time for statements that still run on a client that is closed. */
const endSeconds = 2

/** A client with one connection, and its running statements. Times are of a monotonic clock. */
class Connection {
  readonly #open: () => postgres.Sql
  #client: postgres.Sql
  #running = 0
  /** When its current statement began. */
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
    // With equal load, prefer the connection that made progress most recently.
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
   * Replaces the client after its connection broke during a statement. The client (postgres 3.4.9) still treats that
   * statement as current. If the server then refuses a new connection, the client reports no error and reconnects
   * without a pause, some hundred times a second.
   */
  renew(broken: postgres.Sql): void {
    if (this.#client !== broken) return
    this.#client = this.#open()
    broken.end({ timeout: endSeconds }).catch(() => {})
  }

  /** The database refused to open the connection. */
  refused(now: number): void {
    this.#refusedAt = now
  }
}

/**
 * A pool with one client per connection. A single client with many connections (postgres 3.4.9) searches its
 * connection in a list that grows by one entry per statement and is reset only when all connections are in use. If
 * that is rare, every statement takes longer than the one before: half a millisecond longer after a million
 * statements.
 */
export class Connections {
  readonly #all: ReadonlyArray<Connection>

  constructor(count: number, open: () => postgres.Sql) {
    this.#all = Array.from({ length: count }, () => new Connection(open))
  }

  /**
   * Returns the first connection that makes progress and has the least load. A connection is opened at its first use.
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
