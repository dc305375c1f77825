/** The invariants of reliability.md, by number. */
export const invariants = {
  1: "one owner and one claim per id",
  2: "ids of paid orders belong to the buyer",
  3: "expired orders free their ids once",
  4: "money balances",
  5: "same key: same answer, one effect",
  6: "acknowledged writes survive",
  7: "boxes open once, transfers move once",
  8: "codes and free ids within limits",
  9: "one-time tokens work once",
  10: "ended logins are refused everywhere",
  11: "events in order without gaps",
  12: "lookups are linearizable",
} as const

export type Invariant = keyof typeof invariants

export interface Violation {
  readonly invariant: Invariant
  readonly what: string
  /** The faults that lasted at some time between the start of the operation and the violation. */
  readonly during: string
  readonly at: number
}

/** Collects violations and counts how often each invariant was checked. */
export class Violations {
  readonly found: Array<Violation> = []
  readonly checks = new Map<Invariant, number>()
  /** Names the faults that lasted at some time since then. */
  during: (since: number) => string = () => "no fault"
  heard: (violation: Violation) => void = () => {}

  /** Counts a check of the invariant, and records a violation unless it holds. */
  check(invariant: Invariant, holds: boolean, what: () => string, since = performance.now()): void {
    this.checks.set(invariant, (this.checks.get(invariant) ?? 0) + 1)
    if (holds) return
    const violation = { invariant, what: what(), during: this.during(since), at: performance.now() }
    this.found.push(violation)
    this.heard(violation)
  }
}
