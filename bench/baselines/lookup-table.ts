import type { Sql } from "postgres"
import { canonicalAt } from "../stored/ids.ts"
import { lookupAnswer } from "./lookup-answer.ts"

const usualRows = 100_000

/** The ids that a lookup baseline knows. */
export const storedIds = (from = 0, end = usualRows): string[] =>
  Array.from({ length: end - from }, (_, n) => canonicalAt(from + n))

/** Creates the table of a lookup baseline: one row with the complete answer for each id. */
export async function storeLookups(sql: Sql, rows = usualRows): Promise<void> {
  await sql`create unlogged table lookup (emoji_id text primary key, answer jsonb not null)`
  for (let from = 0; from < rows; from += usualRows)
    await sql`insert into lookup
              select unnest(${storedIds(from, Math.min(rows, from + usualRows))}::text[]), ${sql.json(lookupAnswer)}`
  await sql`vacuum analyze lookup`
}
