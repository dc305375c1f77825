import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import type { Client } from "../postgres/sql.ts"
import { keySeconds } from "./operation-key.ts"

/**
 * Ends an insert whose row id is the operation key. If the request is repeated, the insert returns the existing row.
 */
export const onConflictReuse = (q: Client, table: string) =>
  q`on conflict (id) do update set id = excluded.id
     where ${q(table)}.created_at > now() - make_interval(secs => ${keySeconds})`

/**
 * Runs the insert with the operation key as id. A key may be reused after 24 hours: then a row with a new id is
 * inserted.
 */
export const insertIdempotent = <Row, E, R>(
  id: string,
  insert: (id: string) => Effect.Effect<ReadonlyArray<Row>, E, R>,
): Effect.Effect<Row, E, R> =>
  insert(id).pipe(
    Effect.flatMap((rows) => (rows.length > 0 ? Effect.succeed(rows) : insert(randomUUID()))),
    Effect.map((rows) => rows[0]!),
  )
