import type postgres from "postgres"

/** A client of one connection, and the statements it was given and has not answered. */
export interface Connection {
  readonly client: postgres.Sql
  underWay: number
}

/**
 * Connections that share the statements, a client for each. One client for all of them (postgres 3.4.9) looks for the
 * connection it uses in a list that grows by an entry with every statement and begins anew only when all of them are in
 * use: where that is rare every statement takes longer than the one before, after a million of them by half a millisecond.
 */
export class Connections {
  readonly #all: ReadonlyArray<Connection>

  constructor(count: number, open: () => postgres.Sql) {
    this.#all = Array.from({ length: count }, () => ({ client: open(), underWay: 0 }))
  }

  /** One with the least to do, the first of them: a client opens its connection when it is first used. */
  get next(): Connection {
    let least = this.#all[0]!
    for (const one of this.#all) {
      if (least.underWay === 0) break
      if (one.underWay < least.underWay) least = one
    }
    return least
  }

  async end(timeoutSeconds: number): Promise<void> {
    await Promise.all(this.#all.map(({ client }) => client.end({ timeout: timeoutSeconds })))
  }
}
