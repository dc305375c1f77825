import { Effect } from "effect"
import { type FieldIssue, Unprocessable } from "./errors.ts"

/** Collects all invalid fields of a well-formed request, so that one response can report all of them. */
export class FieldFaults {
  readonly #fields: Record<string, Array<FieldIssue>> = {}

  add(field: string, code: string, message: string): void {
    const issues = this.#fields[field] ?? []
    this.#fields[field] = [...issues, { code, message }]
  }

  /** Fails with 422 if at least one fault was added. */
  get check(): Effect.Effect<void, Unprocessable> {
    return Effect.suspend(() => {
      const first = Object.values(this.#fields)[0]?.[0]
      return first === undefined
        ? Effect.void
        : Effect.fail(new Unprocessable({ error: first.message, fields: this.#fields }))
    })
  }
}
