import { operations } from "./operations.ts"

const violationsKept = 200

const increase = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)

/** Counts what a run sent and received. */
export class Tally {
  requests = 0
  hangs = 0
  liveFrames = 0
  serverErrors = 0
  readonly statuses = new Map<string, number>()
  readonly callers = new Map<string, number>()
  /** The responses 503 with Retry-After, by operation. */
  readonly unavailable = new Map<string, number>()
  readonly violations: Array<string> = []
  readonly #reached = new Set<string>()
  readonly #lastRefusal = new Map<string, string>()

  count(operation: string, caller: string, status: number | "closed" | "hung", isReached: boolean): void {
    this.requests++
    increase(this.statuses, String(status))
    increase(this.callers, caller)
    if (status === "hung") this.hangs++
    if (typeof status !== "number") return
    if (status === 503) increase(this.unavailable, operation)
    // uWebSockets.js itself answers 505 to a request line that it cannot read.
    else if (status >= 500 && status !== 505) this.serverErrors++
    if (isReached) this.#reached.add(operation)
  }

  violation(text: string): void {
    if (this.violations.length < violationsKept) this.violations.push(text)
  }

  /** Remembers why a journey did not reach an operation, for the report. */
  refused(operation: string, why: string): void {
    this.#lastRefusal.set(operation, why)
  }

  get reached(): number {
    return this.#reached.size
  }

  /** The operations without a successful response, each with the reason if a journey called it. */
  get unreached(): ReadonlyArray<string> {
    return [...operations.keys()]
      .filter((id) => !this.#reached.has(id))
      .map((id) => `${id}${this.#lastRefusal.has(id) ? `: ${this.#lastRefusal.get(id)}` : ""}`)
  }

  report(): string {
    const list = (counts: ReadonlyMap<string, number>) =>
      [...counts]
        .toSorted(([a], [b]) => a.localeCompare(b))
        .map(([name, count]) => `${name} ${count}`)
        .join(", ")
    const share = ((100 * this.reached) / operations.size).toFixed(1)
    return [
      `requests      ${this.requests}`,
      `operations    ${this.reached} of ${operations.size} reached with 2xx or 3xx (${share} %)`,
      ...this.unreached.map((line) => `  not reached  ${line}`),
      `statuses      ${list(this.statuses)}`,
      `callers       ${list(this.callers)}`,
      `live frames   ${this.liveFrames}`,
      `5xx           ${this.serverErrors} (without 503 with Retry-After: ${list(this.unavailable) || "none"})`,
      `hangs         ${this.hangs}`,
      `violations    ${this.violations.length}`,
      ...this.violations.map((line) => `  ${line}`),
    ].join("\n")
  }
}
