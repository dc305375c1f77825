import type postgres from "postgres"

/** Statements take a few milliseconds. One that takes this long may wait for a lock, and who comes after it waits too. */
export const heldUpMs = 100
/** A database that opens no connection now will hardly open one at once. */
const closedMs = 1000
/** For what still runs on a client that is ended. */
const endSeconds = 2

/** A client of one connection, and the statements it was given and has not answered. Times are of a monotonic clock. */
class Connection {
  readonly #open: () => postgres.Sql
  #client: postgres.Sql
  #underWay = 0
  /** When it came to the statement it is at. */
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
    return this.#underWay === 0 && !this.#isClosed(now)
  }

  isBetterThan(other: Connection, now: number): boolean {
    const isClosed = this.#isClosed(now)
    if (isClosed !== other.#isClosed(now)) return !isClosed
    const isHeldUp = this.#isHeldUp(now)
    if (isHeldUp !== other.#isHeldUp(now)) return !isHeldUp
    // With as much to do, who got on last is likelier to get on next.
    return this.#underWay === other.#underWay ? this.#since > other.#since : this.#underWay < other.#underWay
  }

  #isHeldUp(now: number): boolean {
    return this.#underWay > 0 && now - this.#since > heldUpMs
  }

  #isClosed(now: number): boolean {
    return now - this.#refusedAt < closedMs
  }

  begun(now: number): void {
    if (this.#underWay++ === 0) this.#since = now
  }

  answered(now: number): void {
    this.#underWay--
    this.#since = now
  }

  /**
   * After it broke under a statement. The client (postgres 3.4.9) goes on thinking of that one, and when the server then
   * says why it opens no other, neither tells who waits for it nor pauses: it asks again at once, some hundred times a second.
   */
  renew(broken: postgres.Sql): void {
    if (this.#client !== broken) return
    this.#client = this.#open()
    broken.end({ timeout: endSeconds }).catch(() => {})
  }

  /** It is not there, and the database did not let it be opened. */
  refused(now: number): void {
    this.#refusedAt = now
  }
}

/**
 * Connections that share the statements, a client for each. One client for all of them (postgres 3.4.9) looks for the
 * connection it uses in a list that grows by an entry with every statement and begins anew only when all of them are in
 * use: where that is rare every statement takes longer than the one before, after a million of them by half a millisecond.
 */
export class Connections {
  readonly #all: ReadonlyArray<Connection>

  constructor(count: number, open: () => postgres.Sql) {
    this.#all = Array.from({ length: count }, () => new Connection(open))
  }

  /** One that goes on and has the least to do, the first of them: a client opens its connection when it is first used. */
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
