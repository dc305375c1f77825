import type postgres from "postgres"

/**
 * After the database has refused a connection, the pool waits this long before it uses that slot again, unless no other
 * slot is available.
 */
const refusedMs = 1000
/** When a client is closed, its running statements get this long to finish. Then its connection is terminated. */
const endSeconds = 2

/**
 * The client gets at most so many statements per connection. It sends all of them to the server at once, so they cannot
 * be taken back. With one statement, every turn of a busy event loop would run only one statement per connection:
 * under overload, 250 statements waited, and a tenth of the writes were accepted.
 */
const maxRunning = 8
/**
 * A connection counts as held up if its statement runs for longer than this. Such a statement may wait for a lock, or
 * the link is stalled. The connection then gets no further statements. Other statements take a few milliseconds.
 */
export const heldUpMs = 100

/**
 * A client with one connection, and the number of statements that run on it. Times are read from a monotonic clock.
 */
export class Connection {
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

  get running(): number {
    return this.#running
  }

  canTake(now: number): boolean {
    return this.#running === 0 || (this.#running < maxRunning && now - this.#since <= heldUpMs)
  }

  isRefused(now: number): boolean {
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
  /** A further connection for urgent statements. It is opened when all others are busy, for example behind a lock. */
  readonly #spare: Connection

  constructor(count: number, open: () => postgres.Sql) {
    this.#all = Array.from({ length: count }, () => new Connection(open))
    this.#spare = new Connection(open)
  }

  /**
   * Returns the connection for the next statement, or undefined if the statement must wait: the one with the fewest
   * running statements. The first free connection is preferred, so that a further connection is opened only if it is
   * needed. A refused connection is used only if all connections are refused.
   */
  free(now: number, isUrgent: boolean): Connection | undefined {
    let best: Connection | undefined
    let refused: Connection | undefined
    let areAllRefused = true
    for (const one of this.#all) {
      if (one.isRefused(now)) {
        if (one.running === 0) refused ??= one
        continue
      }
      areAllRefused = false
      if (one.running === 0) return one
      if (one.canTake(now) && (best === undefined || one.running < best.running)) best = one
    }
    if (best !== undefined) return best
    if (isUrgent && this.#spare.canTake(now) && !this.#spare.isRefused(now)) return this.#spare
    return areAllRefused ? refused : undefined
  }

  async end(): Promise<void> {
    await Promise.all([...this.#all, this.#spare].map(({ client }) => client.end({ timeout: endSeconds })))
  }
}
