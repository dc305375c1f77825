import { Effect } from "effect"
import { Sql } from "../postgres/sql.ts"

interface Holding {
  readonly owner_id: string
  readonly blocked_until: string | null
  readonly is_blocked: boolean
  readonly is_moving: boolean
}

/** Finds the owner of a registered id, and whether a block or an active transfer prevents a transfer of the id. */
export const makeFindHolding = Effect.map(
  Sql,
  (sql) => (canonical: string) =>
    sql
      .rows<Holding>(
        (q) => q`select e.owner_id, e.blocked_until, coalesce(e.blocked_until > now(), false) as is_blocked,
                        c.kind = 'transfer' as is_moving
                   from emoji_id e join claim c using (canonical) where e.canonical = ${canonical}`,
      )
      .pipe(Effect.map((rows) => rows[0])),
)
