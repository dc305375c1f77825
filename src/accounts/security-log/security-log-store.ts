import { Effect } from "effect"
import type { SecurityEventName } from "../../../schema/accounts/security-event.ts"
import type { PageRequest } from "../../../schema/paging.ts"
import type { Via } from "../../http/request/request-origin.ts"
import type { ExpiredRows } from "../../postgres/prune.ts"
import { Sql } from "../../postgres/sql.ts"
import { batchWrites } from "../../turns/batch-writes.ts"

export interface NewEntry {
  readonly id: string
  readonly user_id: string
  readonly event: SecurityEventName
  readonly most: number
  readonly actor_id: string | null
  readonly via: Via
  readonly address: string | null
  readonly user_agent: string | null
  readonly request_id: string | null
  readonly details: Readonly<Record<string, unknown>>
}

export interface StoredEntry {
  readonly id: string
  readonly event: SecurityEventName
  readonly created_at: string
  readonly last_at: string
  readonly count: number
  readonly actor_id: string | null
  readonly via: Via
  readonly address: string | null
  readonly user_agent: string | null
  readonly details: Readonly<Record<string, unknown>>
}

const maxEntries = 500

export const makeSecurityLogStore = Sql.useSync((sql) => ({
  /** Stores an entry. Entries that arrive while a statement runs share the next statement. */
  put: batchWrites({
    run: (entries: ReadonlyArray<NewEntry>) =>
      Effect.map(
        sql.rows((q) => q`select put_security_log(${JSON.stringify(entries)}::text::jsonb)`),
        () => entries.map(() => Effect.void),
      ),
    maxStatements: 1,
    maxAsks: maxEntries,
  }),
  list: (userId: string, { dir, limit, page }: PageRequest) =>
    sql
      .rows<{ data: ReadonlyArray<StoredEntry>; total: number }>((q) => {
        const order = dir === "Asc" ? q`asc` : q`desc`
        return q`
          select (select count(*) from security_log where user_id = ${userId}) as total,
                 (select coalesce(jsonb_agg(jsonb_build_object('id', l.id, 'event', l.event, 'created_at', wire_time(l.at),
                           'last_at', wire_time(l.last_at), 'count', l.count, 'actor_id', l.actor_id, 'via', l.via,
                           'address', l.address, 'user_agent', l.user_agent, 'details', l.details)
                           order by l.at ${order}, l.id ${order}), '[]')
                    from (select * from security_log where user_id = ${userId}
                           order by at ${order}, id ${order} limit ${limit} offset ${page * limit}) l) as data`
      })
      .pipe(Effect.map((rows) => rows[0]!)),
}))

/** Selects the rows that the cleanup deletes: entries whose last counted event is older than `keptDays`. */
export const oldSecurityLogEntries = (keptDays: number): ExpiredRows => ({
  table: "security_log",
  time: (q) => q`at`,
  isExpired: (q) => q`at < now() - make_interval(days => ${keptDays})
                      and last_at < now() - make_interval(days => ${keptDays})`,
})
