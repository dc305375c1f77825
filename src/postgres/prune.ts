import { Effect } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { type Client, Sql, type SqlPiece } from "./sql.ts"

/**
 * The maximum number of rows that one statement deletes. Deleting the rows of a month in one statement would exceed
 * the time limit of a statement.
 */
const batchSize = 5000

type Database = (typeof Sql)["Service"]
type Condition = (q: Client) => SqlPiece

/** Describes which rows of a table are no longer needed. `key` lists the columns that identify a row. */
export interface ExpiredRows {
  readonly table: string
  readonly key: ReadonlyArray<string>
  readonly isExpired: Condition
}

/**
 * Describes which rows are no longer needed, for a table whose `id` increases with time and that has no index to find
 * expired rows.
 */
export interface ExpiredNumberedRows {
  readonly table: string
  readonly isExpired: Condition
  /** Matches rows that are too young to be expired. The search ends with the first batch that contains such a row. */
  readonly isRecent: Condition
}

export const expiredADayAgo: Condition = (q) => q`expires_at < now() - interval '1 day'`

/**
 * Deletes expired rows in batches, found by their key. The delete checks the condition again, because a row may have
 * been renewed after it was selected.
 */
export const deleteByKey = (sql: Database, table: string, key: Array<string>, isExpired: Condition) =>
  Effect.repeat(
    sql.rows(
      (q) => q`delete from ${q(table)} where ${isExpired(q)} and (${q(key)}) in (
                 select ${q(key)} from ${q(table)} where ${isExpired(q)} limit ${batchSize}) returning 1`,
    ),
    { while: (deleted) => deleted.length === batchSize },
  )

/** Deletes expired rows in the order of their ids, until a batch contains a recent row. */
export const deleteOldest = Effect.fnUntraced(function* (
  sql: Database,
  table: string,
  isExpired: Condition,
  isRecent: Condition,
) {
  let past = 0
  for (let hasMore = true; hasMore; ) {
    const [row] = yield* sql.rows<{ last: number; has_more: boolean }>(
      (q) => q`with batch as (
                 select id, ${isRecent(q)} as recent from ${q(table)} where id > ${past}::bigint order by id limit ${batchSize}
               ), deleted as (
                 delete from ${q(table)} t using batch where t.id = batch.id and ${isExpired(q)}
               )
               select max(id) as last, count(*) = ${batchSize} and not coalesce(bool_or(recent), false) as has_more from batch`,
    )
    hasMore = row?.has_more === true
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
