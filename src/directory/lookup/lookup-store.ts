import { Effect } from "effect"
import { viewWindowDays } from "../../../schema/directory/metric.ts"
import type { DirectoryRecord } from "../../../schema/directory/records/record.ts"
import { formatTag } from "../../../schema/directory/records/record-tag.ts"
import { lateralKeys } from "../../postgres/lateral-keys.ts"
import { Sql } from "../../postgres/sql.ts"
import type { LookupRow } from "./answer.ts"

interface Row {
  readonly canonical: string
  readonly version: number
  readonly token_id: number
  readonly records: ReadonlyArray<readonly [tag: number, data: string, hash: string]>
  readonly views: number
  readonly owner_changed_at: string | null
}

const toRecord = ([tag, data, hash]: Row["records"][number]): DirectoryRecord => ({
  tag: formatTag(tag),
  data,
  hash,
})

/**
 * Makes a function that reads everything that lookups of the given ids return, in one statement. Its result has no
 * entry for an id that is not registered. A transfer of a release that did not store `owner_changed_at` is known by
 * `blocked_until`.
 */
export const makeReadLookups = Effect.map(
  Sql,
  (sql) => (canonicals: ReadonlyArray<string>) =>
    sql
      .urgent<Row>(
        (q) => q`select e.canonical, e.version, e.token_id,
                        case when o.at > now() - interval '24 hours' then wire_time(o.at) end as owner_changed_at,
                        (select coalesce(json_agg(json_build_array(r.tag, r.data, r.hash) order by r.seq), '[]')
                           from record r where r.canonical = e.canonical) as records,
                        (select coalesce(sum(v.views), 0)::bigint from emoji_id_view v
                          where v.canonical = e.canonical and v.day > current_date - ${viewWindowDays}::int) as views
                   from ${lateralKeys(q, canonicals)}
                  cross join lateral (select * from emoji_id i where i.canonical = x.canonical offset 0) e
                  cross join lateral (
                    select coalesce(e.owner_changed_at, case when e.blocked_until > now()
                             then least(e.blocked_until - interval '24 hours', e.updated_at) end) as at) o`,
      )
      .pipe(
        Effect.map(
          (rows): ReadonlyMap<string, LookupRow> =>
            new Map(
              rows.map(({ canonical, owner_changed_at, records, token_id, version, views }) => [
                canonical,
                {
                  canonical,
                  version,
                  views,
                  tokenId: token_id,
                  records: records.map(toRecord),
                  ownerChangedAt: owner_changed_at ?? undefined,
                },
              ]),
            ),
        ),
      ),
)
