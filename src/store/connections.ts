import type postgres from "postgres"

/** Statements take a few milliseconds. One that takes this long may wait for a lock, and who comes after it waits too. */
export const heldUpMs = 100

/** A client of one connection, and the statements it was given and has not answered. Times are of a monotonic clock. */
class Connection {
  readonly client: postgres.Sql
  #underWay = 0
  /** When it came to the statement it is at. */
  #since = 0

  constructor(client: postgres.Sql) {
    this.client = client
  }

  get isFree(): boolean {
    return this.#underWay === 0
  }

  isBetterThan(other: Connection, now: number): boolean {
    const isHeldUp = this.#isHeldUp(now)
    if (isHeldUp !== other.#isHeldUp(now)) return !isHeldUp
    // With as much to do, who got on last is likelier to get on next.
    return this.#underWay === other.#underWay ? this.#since > other.#since : this.#underWay < other.#underWay
  }

  #isHeldUp(now: number): boolean {
    return this.#underWay > 0 && now - this.#since > heldUpMs
  }

  begun(now: number): void {
    if (this.#underWay++ === 0) this.#since = now
  }

  answered(now: number): void {
    this.#underWay--
    this.#since = now
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
    this.#all = Array.from({ length: count }, () => new Connection(open()))
  }

  /** One that goes on and has the least to do, the first of them: a client opens its connection when it is first used. */
  next(now: number): Connection {
    let best = this.#all[0]!
    for (const one of this.#all) {
      if (best.isFree) break
      if (one.isBetterThan(best, now)) best = one
    }
    return best
  }

  async end(timeoutSeconds: number): Promise<void> {
    await Promise.all(this.#all.map(({ client }) => client.end({ timeout: timeoutSeconds })))
  }
}
