import { Effect } from "effect"
import { Sql } from "../postgres/sql.ts"

/**
 * Makes a function that returns those of the given ids that have a claim: they are registered, or an order, a lootbox
 * or a transfer holds them.
 */
export const makeFindClaimed = Effect.map(
  Sql,
  (sql) => (canonicals: Array<string>) =>
    sql
      .rows<{ canonical: string }>((q) => q`select canonical from claim where canonical = any(${canonicals})`)
      .pipe(Effect.map((rows): ReadonlySet<string> => new Set(rows.map(({ canonical }) => canonical)))),
)
