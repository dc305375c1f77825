import { Effect } from "effect"
import { Sql } from "./sql.ts"

/**
 * Health checks: `answers` tells whether Postgres responds within two seconds, `writesFail` whether it rejects
 * writes.
 */
export const makePostgresHealth = Sql.useSync((sql) => ({
  answers: sql
    .urgent((q) => q`select 1`)
    .pipe(Effect.timeout("2 seconds"), Effect.match({ onFailure: () => false, onSuccess: () => true })),
  writesFail: () => sql.writesFail(),
}))
