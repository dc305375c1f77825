import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import type { Client } from "../postgres/sql.ts"
import { keySeconds } from "./operation-key.ts"

/**
 * The last part of an insert statement whose row id is the operation key. If the request is repeated within 24 hours,
 * the statement returns the existing row. After that it returns no row.
 */
export const onConflictReuse = (q: Client, table: string) =>
  q`on conflict (id) do update set id = excluded.id
     where ${q(table)}.created_at > now() - make_interval(secs => ${keySeconds})`

/**
 * Inserts a row with the operation key as id, or returns the row that an earlier request with this key inserted.
 * After 24 hours a key can be reused. The new row then gets a random id.
 */
export const insertIdempotent = <Row, E, R>(
  id: string,
  insert: (id: string) => Effect.Effect<ReadonlyArray<Row>, E, R>,
): Effect.Effect<Row, E, R> =>
  insert(id).pipe(
    Effect.flatMap((rows) => (rows.length > 0 ? Effect.succeed(rows) : insert(randomUUID()))),
    Effect.map((rows) => rows[0]!),
  )
