import type { Invariant } from "../violations.ts"

/** An acknowledged write, and the query that must find its effect after the run. */
export interface Acknowledged {
  readonly invariant: Invariant
  readonly what: string
  /** Returns one row with `found`: how often the effect is in the database. */
  readonly query: string
  readonly values: ReadonlyArray<string>
  readonly expected: number
}

/** What the oracle checks when the run has ended. */
export class Unchecked {
  readonly acknowledged: Array<Acknowledged> = []
  /** Orders that the sandbox has taken the money for: each must become Paid. */
  readonly payments: Array<{ readonly order: string; readonly buyer: string }> = []
  /** Access tokens of ended logins. */
  readonly ended: Array<{ readonly token: string; readonly what: string }> = []

  add(acknowledged: Acknowledged): void {
    this.acknowledged.push(acknowledged)
  }
}
