import { Effect } from "effect"
import { Sql } from "../postgres/sql.ts"

/** The place of a user in the list of all users, oldest first. `at` is the exact time of the database, as a text. */
export interface UserPosition {
  readonly at: string
  readonly id: string
}

interface Part {
  /** The users of this part who have no key. */
  readonly keyless: ReadonlyArray<string>
  /** The last user of this part. Null if there is no user after the given one. */
  readonly last: UserPosition | null
}

/** Reads the next users after a position, and returns those without a key. */
export const readKeylessUsers = (after: UserPosition, limit: number) =>
  Sql.use((sql) =>
    sql
      .rows<Part>(
        (q) => q`with part as materialized (
                   select id, created_at from app_user
                    where deleted_at is null and (created_at, id) > (${after.at}::text::timestamptz, ${after.id}::uuid)
                    order by created_at, id limit ${limit})
                 select array(select p.id::text from part p
                               where not exists (select 1 from pubkey k where k.user_id = p.id)) as keyless,
                        (select jsonb_build_object('at', p.created_at::text, 'id', p.id) from part p
                          order by p.created_at desc, p.id desc limit 1) as last`,
      )
      .pipe(Effect.map((rows) => rows[0]!)),
  )
