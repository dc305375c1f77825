import { Effect } from "effect"
import type { Config } from "../config/config.ts"

/** What one subject adds to the demo data. */
export interface SeedStep<R> {
  /** Remembered in the database: a part is seeded once. */
  readonly name: string
  /** May run again after it failed half-way, so it leaves alone what is there. */
  readonly seed: Effect.Effect<void, unknown, R>
  /** What a person can try with it, for the start's banner. */
  readonly lines: (config: Config) => ReadonlyArray<string>
}

/** Refusals here mean that it is there already. */
export const unlessThere = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.asVoid,
    Effect.catchIf(
      ({ _tag }) => _tag === "Unprocessable",
      () => Effect.void,
    ),
  )
