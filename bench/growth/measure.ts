import type { Sql } from "postgres"

export interface TableSize {
  readonly table: string
  readonly heapBytes: number
  /** With indexes. */
  readonly bytes: number
}

export const tableSizes = (sql: Sql, tables: ReadonlyArray<string>): Promise<ReadonlyArray<TableSize>> =>
  sql<TableSize[]>`
    select t as table, pg_table_size(t::regclass)::float8 as "heapBytes",
           pg_total_relation_size(t::regclass)::float8 as bytes
      from unnest(${tables as string[]}::text[]) t`

/** Returns the value that this share of the values does not exceed. */
export const percentileOf = (values: ReadonlyArray<number>, share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
