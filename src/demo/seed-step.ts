import { Effect } from "effect"
import type { Config } from "../config/read-config.ts"

/** One part of the demo data, for example the users or the ids. */
export interface SeedStep<R> {
  /** The name is stored in the database after seeding, so that each part is seeded only once. */
  readonly name: string
  /**
   * Creates the rows of the part. It may run again after a partial failure, so it must work if some rows already
   * exist.
   */
  readonly seed: Effect.Effect<void, unknown, R>
  /** Lines of the startup banner that show what to try. */
  readonly lines: (config: Config) => ReadonlyArray<string>
}

/** Ignores the error Unprocessable. In a seed step, it means that the row already exists. */
export const ignoreExisting = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.asVoid,
    Effect.catchIf(
      ({ _tag }) => _tag === "Unprocessable",
      () => Effect.void,
    ),
  )
