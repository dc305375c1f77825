import { Effect } from "effect"
import type { SecurityEventName } from "../../../schema/accounts/security-event.ts"
import { type PageRequest, pagedList } from "../../../schema/paging.ts"
import type { Via } from "../../http/request/request-origin.ts"
import { makePages } from "../../postgres/pages.ts"
import type { ExpiredRows } from "../../postgres/prune.ts"
import { Sql } from "../../postgres/sql.ts"
import { Metrics } from "../../telemetry/metrics.ts"
import { batchWrites } from "../../turns/batch-writes.ts"
import { recordBatches } from "../../turns/turn-metrics.ts"

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

export const securityLogList = pagedList("security_log", { created_at: ["time", "uuid"] })

export const makeSecurityLogStore = Effect.gen(function* () {
  const sql = yield* Sql
  const metrics = yield* Metrics
  const pages = yield* makePages
  return {
    /** Stores an entry. Entries that arrive while a statement runs share the next statement. */
    put: batchWrites({
      run: (entries: ReadonlyArray<NewEntry>) =>
        Effect.map(
          sql.rows((q) => q`select put_security_log(${JSON.stringify(entries)}::text::jsonb)`),
          () => entries.map(() => Effect.void),
        ),
      maxStatements: 1,
      maxAsks: maxEntries,
      onStatement: recordBatches(metrics, "security_log"),
    }),
    list: (userId: string, page: PageRequest) =>
      pages.readCounted<StoredEntry>(
        page,
        securityLogList.sorts.created_at,
        ["security_log", userId],
        (q) => ({
          ranges: [q`security_log where user_id = ${userId}`],
          keys: [q`at`, q`id`],
          item: q`select l.id, l.event, l.at as created_at, l.last_at, l.count, l.actor_id, l.via, l.address, l.user_agent,
                       l.details
                  from security_log l where l.id = p.k1`,
        }),
      ),
  }
})

/** Selects the rows that the cleanup deletes: entries whose last counted event is older than `keptDays`. */
export const oldSecurityLogEntries = (keptDays: number): ExpiredRows => ({
  table: "security_log",
  time: (q) => q`at`,
  isExpired: (q) => q`at < now() - make_interval(days => ${keptDays})
                      and last_at < now() - make_interval(days => ${keptDays})`,
})
