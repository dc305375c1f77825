import { Effect } from "effect"
import { Sql } from "./sql.ts"

/** Whether Postgres answers in time, and whether it refused to write lately. */
export const makePostgresHealth = Sql.useSync((sql) => ({
  answers: sql
    .rows((q) => q`select 1`)
    .pipe(Effect.timeout("2 seconds"), Effect.match({ onFailure: () => false, onSuccess: () => true })),
  writesFail: () => sql.writesFail(),
}))
