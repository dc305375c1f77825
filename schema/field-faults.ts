import { Effect } from "effect"
import { type FieldIssue, Unprocessable } from "./errors.ts"

/** Gathers what is wrong with a well-formed request, to tell it all at once. */
export class FieldFaults {
  readonly #fields: Record<string, Array<FieldIssue>> = {}

  add(field: string, code: string, message: string): void {
    const issues = this.#fields[field] ?? []
    this.#fields[field] = [...issues, { code, message }]
  }

  get check(): Effect.Effect<void, Unprocessable> {
    return Effect.suspend(() => {
      const first = Object.values(this.#fields)[0]?.[0]
      return first === undefined
        ? Effect.void
        : Effect.fail(new Unprocessable({ error: first.message, fields: this.#fields }))
    })
  }
}
