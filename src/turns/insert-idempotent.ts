import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import type { Client } from "../postgres/sql.ts"
import { keySeconds } from "./operation-key.ts"

/** Ends an insert of a row under an id that names the request: sent again after a lost answer it finds what it has made. */
export const onConflictReuse = (q: Client, table: string) =>
  q`on conflict (id) do update set id = excluded.id
     where ${q(table)}.created_at > now() - make_interval(secs => ${keySeconds})`

/** A key may be used for something else after its day: a row under this id that is older stays, and another is made. */
export const insertIdempotent = <Row, E, R>(
  id: string,
  insert: (id: string) => Effect.Effect<ReadonlyArray<Row>, E, R>,
): Effect.Effect<Row, E, R> =>
  insert(id).pipe(
    Effect.flatMap((rows) => (rows.length > 0 ? Effect.succeed(rows) : insert(randomUUID()))),
    Effect.map((rows) => rows[0]!),
  )
