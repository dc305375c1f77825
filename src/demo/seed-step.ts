import { Effect } from "effect"
import type { Config } from "../config/config.ts"

/** The part of the demo data of one subject. */
export interface SeedStep<R> {
  /** Stored in the database, so that a part is seeded once. */
  readonly name: string
  /** May run again after a partial failure, so it must not change existing rows. */
  readonly seed: Effect.Effect<void, unknown, R>
  /** Lines of the startup banner that show what to try. */
  readonly lines: (config: Config) => ReadonlyArray<string>
}

/** Ignores Unprocessable, which here means that the row already exists. */
export const ignoreExisting = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.asVoid,
    Effect.catchIf(
      ({ _tag }) => _tag === "Unprocessable",
      () => Effect.void,
    ),
  )
