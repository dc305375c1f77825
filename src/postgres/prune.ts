import { Effect } from "effect"
import type { Client, Sql, SqlPiece } from "./sql.ts"

/** What nobody can ask for any more is taken away some at a time: a month of it is more than one statement may take. */
const batchSize = 5000

type Database = (typeof Sql)["Service"]
type Condition = (q: Client) => SqlPiece

/** Asked again when it is deleted: what was over a moment ago may have begun anew. */
export const deleteOver = (sql: Database, table: string, key: Array<string>, isOver: Condition) =>
  Effect.repeat(
    sql.rows(
      (q) => q`delete from ${q(table)} where ${isOver(q)} and (${q(key)}) in (
                 select ${q(key)} from ${q(table)} where ${isOver(q)} limit ${batchSize}) returning 1`,
    ),
    { while: (gone) => gone.length === batchSize },
  )

/** By their numbers, the oldest first, as far as there is one that is young: no index knows when these are over. */
export const deleteOldest = Effect.fnUntraced(function* (
  sql: Database,
  table: string,
  isOver: Condition,
  isYoung: Condition,
) {
  let past = 0
  for (let goesOn = true; goesOn; ) {
    const [row] = yield* sql.rows<{ last: number; goes_on: boolean }>(
      (q) => q`with looked as (
                 select id, ${isYoung(q)} as young from ${q(table)} where id > ${past}::bigint order by id limit ${batchSize}
               ), gone as (
                 delete from ${q(table)} t using looked where t.id = looked.id and ${isOver(q)}
               )
               select max(id) as last, count(*) = ${batchSize} and not coalesce(bool_or(young), false) as goes_on from looked`,
    )
    goesOn = row?.goes_on === true
    past = row?.last ?? past
  }
})
