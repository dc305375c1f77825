import type { Run } from "../load/run.ts"

const keptDescriptions = 5

/** Counts the checked answers of a run and keeps the descriptions of the first wrong ones. */
export class Auditor {
  #checked = 0
  #wrong: string[] = []

  expect(holds: boolean, describe: () => string): void {
    this.#checked++
    if (!holds && this.#wrong.length < keptDescriptions) this.#wrong.push(describe())
  }

  /** Returns what was found since the last call. */
  take(): NonNullable<Run["audit"]> {
    const found = { checked: this.#checked, wrong: this.#wrong }
    this.#checked = 0
    this.#wrong = []
    return found
  }
}
