import { Effect } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { Client, SqlPiece } from "./client.ts"
import { Sql } from "./sql.ts"

/** The maximum number of rows that one statement deletes. It is small, so that the rows are locked for a short time. */
const batchSize = 2000
/** The pause between two statements, in which other statements have the disk and the processor for themselves. */
const pause = "20 millis"

type Condition = (q: Client) => SqlPiece

interface PrunedTable {
  readonly table: string
  readonly isExpired: Condition
}

/** Describes which rows of a table are no longer needed. They are found with the index of `time`, oldest first. */
export interface ExpiredRows extends PrunedTable {
  /** The column or expression whose index finds the expired rows. */
  readonly time: Condition
  /** The condition of that index, if it is partial. */
  readonly among?: Condition
}

/**
 * Describes which rows are no longer needed, for a table whose `id` increases with time and that has no index to find
 * expired rows.
 */
export interface ExpiredNumberedRows extends PrunedTable {
  /** The column with the time at which a row was added. */
  readonly addedAt: Condition
  /** Matches rows that are too young to be expired. The search ends with the first batch that contains such a row. */
  readonly isRecent: Condition
}

export interface Pruned {
  readonly deleted: number
  /** How long ago the time of the oldest remaining row was. 0 if there is no row, or if this time has not come yet. */
  readonly oldestSeconds: number
}

/**
 * Deletes expired rows in batches, oldest first. A row that another statement has locked is skipped: it is being renewed,
 * or another process deletes it. Rows are deleted by their place in the table, so no plan can search the table for them.
 */
const deleteByTime = Effect.fnUntraced(function* ({ among, isExpired, table, time }: ExpiredRows) {
  const sql = yield* Sql
  let deleted = 0
  for (;;) {
    const rows = yield* sql.rows(
      (q) => q`delete from ${q(table)} where ctid = any(array(
                 select ctid from ${q(table)} where ${isExpired(q)} ${among === undefined ? q`` : q`and ${among(q)}`}
                  order by ${time(q)} limit ${batchSize} for update skip locked)) returning 1`,
    )
    deleted += rows.length
    if (rows.length < batchSize) break
    yield* Effect.sleep(pause)
  }
  return deleted
})

/** Deletes expired rows in the order of their ids, until a batch contains a recent row. */
const deleteByNumber = Effect.fnUntraced(function* ({ isExpired, isRecent, table }: ExpiredNumberedRows) {
  const sql = yield* Sql
  let [deleted, past] = [0, 0]
  for (;;) {
    const [row] = yield* sql.rows<{ last: number; has_more: boolean; deleted: number }>(
      (q) => q`with batch as (
                 select id, ${isRecent(q)} as recent from ${q(table)} where id > ${past}::bigint order by id limit ${batchSize}
               ), gone as (
                 delete from ${q(table)} where ctid = any(array(
                   select ctid from ${q(table)} where id = any(array(select id from batch)) and ${isExpired(q)}
                      for update skip locked)) returning 1
               )
               select max(id) as last, count(*) = ${batchSize} and not coalesce(bool_or(recent), false) as has_more,
                      (select count(*)::int from gone) as deleted from batch`,
    )
    deleted += row?.deleted ?? 0
    past = row?.last ?? past
    if (row?.has_more !== true) return deleted
    yield* Effect.sleep(pause)
  }
})

const findOldest = (rows: ExpiredRows | ExpiredNumberedRows) =>
  Sql.use((sql) =>
    sql.rows<{ seconds: number }>((q) => {
      const among = "among" in rows && rows.among !== undefined ? q`where ${rows.among(q)}` : q``
      return "time" in rows
        ? q`select extract(epoch from now() - ${rows.time(q)})::float8 as seconds
              from ${q(rows.table)} ${among} order by ${rows.time(q)} limit 1`
        : q`select extract(epoch from now() - ${rows.addedAt(q)})::float8 as seconds
              from ${q(rows.table)} order by id limit 1`
    }),
  ).pipe(Effect.map(([row]) => Math.max(0, row?.seconds ?? 0)))

/** Deletes all expired rows of a table. Several processes may do this at the same time. */
export const prune = Effect.fnUntraced(function* (
  rows: ExpiredRows | ExpiredNumberedRows,
): Effect.fn.Return<Pruned, Unavailable, Sql> {
  const deleted = yield* "time" in rows ? deleteByTime(rows) : deleteByNumber(rows)
  return { deleted, oldestSeconds: yield* findOldest(rows) }
})
