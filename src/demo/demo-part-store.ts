import { Effect } from "effect"
import { Sql } from "../postgres/sql.ts"

/** The names of the parts of the demo data that were already seeded in this database. */
export const findSeededParts = Sql.use((sql) =>
  sql
    .rows<{ name: string }>((q) => q`select name from demo_part`)
    .pipe(Effect.map((rows) => new Set(rows.map(({ name }) => name)))),
)

export const putSeededPart = (name: string) =>
  Sql.use((sql) => sql.rows((q) => q`insert into demo_part (name) values (${name}) on conflict do nothing`))
