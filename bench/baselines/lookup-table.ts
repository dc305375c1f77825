import type { Sql } from "postgres"
import { canonicalAt } from "../stored/ids.ts"
import { lookupAnswer } from "./lookup-answer.ts"

const rows = 100_000

/** The ids that a lookup baseline knows. */
export const storedIds = (): string[] => Array.from({ length: rows }, (_, n) => canonicalAt(n))

/** Creates the table of a lookup baseline: one row with the complete answer for each id. */
export async function storeLookups(sql: Sql): Promise<void> {
  await sql`create unlogged table lookup (emoji_id text primary key, answer jsonb not null)`
  await sql`insert into lookup select unnest(${storedIds()}::text[]), ${sql.json(lookupAnswer)}`
  await sql`vacuum analyze lookup`
}
