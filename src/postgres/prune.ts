import { Effect } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { type Client, Sql, type SqlPiece } from "./sql.ts"

/** Expired rows are deleted in batches: a month of them is more than one statement may take. */
const batchSize = 5000

type Database = (typeof Sql)["Service"]
type Condition = (q: Client) => SqlPiece

/** Rows of a table that are no longer needed. */
export interface ExpiredRows {
  readonly table: string
  readonly key: ReadonlyArray<string>
  readonly isExpired: Condition
}

/** The same for a table whose rows are numbered by `id` in the order of their age, and where no index finds the expired ones. */
export interface ExpiredNumberedRows {
  readonly table: string
  readonly isExpired: Condition
  /** The search ends with the first batch that has a recent row. */
  readonly isRecent: Condition
}

export const expiredADayAgo: Condition = (q) => q`expires_at < now() - interval '1 day'`

/** The condition is checked again by the delete: a row that was expired a moment ago may be in use again. */
export const deleteByKey = (sql: Database, table: string, key: Array<string>, isOver: Condition) =>
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

export const deleteExpired = (rows: ExpiredRows | ExpiredNumberedRows) =>
  Sql.use(
    (sql): Effect.Effect<unknown, Unavailable> =>
      "key" in rows
        ? deleteByKey(sql, rows.table, [...rows.key], rows.isExpired)
        : deleteOldest(sql, rows.table, rows.isExpired, rows.isRecent),
  )
