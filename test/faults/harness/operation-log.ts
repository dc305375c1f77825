import { createWriteStream } from "node:fs"

/** What is known about an operation: `unknown` if it may have been applied or not. */
export type Outcome = "ok" | "failed" | "unknown"

/** One attempt of an operation at one process. */
export interface Attempt {
  readonly process: string
  readonly startedAt: number
  readonly endedAt: number
  /** The status, or the kind of error if there was no response. */
  readonly answer: number | string
  readonly error?: string
}

export interface LoggedOperation {
  readonly seed: number
  readonly user: string
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly key?: string
  readonly body?: unknown
  readonly outcome: Outcome
  readonly answer?: { readonly status: number; readonly body: unknown }
  readonly attempts: ReadonlyArray<Attempt>
}

/** A process without a fault answers a write. The times are used to measure how long a recovery takes. */
interface Success {
  readonly process: string
  readonly at: number
}

/** Writes every operation as one JSON line, and counts. */
export class OperationLog {
  readonly file: string
  readonly counts: Record<Outcome, number> = { ok: 0, failed: 0, unknown: 0 }
  /** Responses above 499 and missing responses, by kind. */
  readonly errors = new Map<string, number>()
  readonly successes: Array<Success> = []
  lookups = 0
  readonly #stream

  constructor(file: string) {
    this.file = file
    this.#stream = createWriteStream(file)
  }

  add(operation: LoggedOperation): void {
    this.counts[operation.outcome]++
    for (const { answer, endedAt, error, process } of operation.attempts) {
      if (typeof answer === "string" || answer >= 500)
        this.count(typeof answer === "string" ? answer : `${answer} ${error ?? ""}`.trim())
      else if (answer < 300) this.successes.push({ process, at: endedAt })
    }
    this.#stream.write(`${JSON.stringify(operation)}\n`)
  }

  count(kind: string): void {
    this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1)
  }

  note(facts: Readonly<Record<string, unknown>>): void {
    this.#stream.write(`${JSON.stringify(facts)}\n`)
  }

  close(): Promise<void> {
    return new Promise((done) => this.#stream.end(() => done()))
  }
}
