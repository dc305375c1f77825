import { Effect } from "effect"
import type postgres from "postgres"
import type { PageRequest } from "../../schema/paging.ts"
import type { Sql } from "../postgres/sql.ts"

type Fragment = postgres.PendingQuery<Array<postgres.Row>>

interface Selection {
  /** SQL conditions that the entities must meet, in addition to their kind. */
  readonly wanted: ReadonlyArray<Fragment>
  readonly sortedBy: Fragment
  /** True if `sortedBy` can be null. Entities without a value are then sorted last, in both directions. */
  readonly isOptional?: boolean
}

/**
 * Reads a page of entities of one kind, and the total number. The ids of the page are found first, with indexes only;
 * then the rows of these ids are read.
 */
export const pageOfEntities = <Row>(
  sql: Sql["Service"],
  kind: string,
  { dir, limit, page }: PageRequest,
  select: (q: postgres.Sql) => Selection,
) =>
  sql
    .rows<{ readonly rows: ReadonlyArray<Row>; readonly total: number }>((q) => {
      const { isOptional = false, sortedBy, wanted } = select(q)
      const which = wanted.reduce((all, one) => q`${all} and ${one}`, q`kind = ${kind}`)
      const direction = dir === "Asc" ? q`asc` : q`desc`
      const order = q`${sortedBy} ${direction} ${isOptional ? q`nulls last` : q``}, id ${direction}`
      return q`select (select count(*) from entity where ${which}) as total,
                      (select coalesce(jsonb_agg(jsonb_build_object('status', e.status, 'context', e.state->'context')
                                                 order by p.n), '[]')
                         from (select id, row_number() over () as n from (
                                 select id from entity where ${which}
                                  order by ${order} limit ${limit} offset ${page * limit}) x) p
                         join entity e on e.kind = ${kind} and e.id = p.id) as rows`
    })
    .pipe(Effect.map(([found]) => found ?? { rows: [], total: 0 }))
