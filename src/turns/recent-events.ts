import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { RecentEvent } from "../../schema/operations/recent-event.ts"
import { AppConfig } from "../config/config.ts"
import { type Client, Sql } from "../postgres/sql.ts"

/** A position in the list of all events. The list is ordered by time, channel and offset. */
export interface Place {
  readonly at: string
  readonly channel: string
  readonly offset: number
}

/**
 * Describes which transactions a read could see: all transactions with a number below `below`, except those that were
 * still running. A later read uses it to find the events that became visible in the meantime. The time of an event is
 * not sufficient for that: it is the start of the transaction, so a new event can have an earlier time than listed
 * ones.
 */
export interface Sight {
  readonly at: string
  readonly below: number
  /** The numbers of the transactions that were still running, each as `below` minus the number. */
  readonly running: ReadonlyArray<number>
}

export interface EventFilter {
  /** Selects events by the first part of their channel name or of their type, for example `cart`. */
  readonly kind: string | undefined
  readonly before: Place | undefined
  readonly after: Sight | undefined
  readonly limit: number
}

interface Found {
  readonly event: RecentEvent
  /** The time of the event in microseconds. The times of the API have only milliseconds. */
  readonly exactly: string
}

/**
 * The number of events that a request for one kind searches. There is no index by kind, because it would slow down
 * every turn. So a request for a rare kind can return few events or none, although older ones exist.
 */
const lookedThrough = 10_000

/** Lists the events of all channels for administrators. */
export class RecentEventLists extends Context.Service<
  RecentEventLists,
  {
    /** Lists events, newest first. */
    list(filter: EventFilter): Effect.Effect<
      {
        readonly events: ReadonlyArray<{ readonly event: RecentEvent; readonly place: Place }>
        /** The position where the next request continues. Undefined if all events were searched. */
        readonly end: Place | undefined
        readonly sight: Sight
        /** True if the searched range contains no events of any kind. */
        readonly isQuiet: boolean
      },
      Unavailable
    >
  }
>()("directory/RecentEventLists") {
  static readonly layer = Layer.effect(
    RecentEventLists,
    Effect.gen(function* () {
      const sql = yield* Sql
      const { statementTimeoutMs } = yield* AppConfig
      /**
       * No statement runs longer than this. So an event that becomes visible after a read is at most this much older
       * than the read.
       */
      const longestSeconds = statementTimeoutMs / 1000 + 1
      /**
       * The SQL expression for the full transaction number of a row. A row stores only its lower 32 bits (`xmin`).
       * The full number is one of the 2^32 numbers up to `below`, and only one of these has the stored bits.
       */
      const number = (q: Client) =>
        q`((select below from sight) - (((select below from sight) - e.xmin::text::bigint) & 4294967295))`
      const unseen = (q: Client, { at, below, running }: Sight) =>
        q`at >= ${at}::text::timestamptz - make_interval(secs => ${longestSeconds})
          and (${number(q)} >= ${below}::bigint or ${below}::bigint - ${number(q)} = any(${running as number[]}::bigint[]))`
      return RecentEventLists.of({
        list: ({ after, before, kind, limit }) => {
          const most = kind === undefined ? limit : lookedThrough
          return Effect.map(
            sql.rows<{ found: ReadonlyArray<Found>; sight: Sight; looked: number; last: Place | null }>(
              (q) => q`
                with sight as materialized (
                  select s, pg_snapshot_xmax(s)::text::bigint as below from (select pg_current_snapshot() as s) now_seen
                ), looked as materialized (
                  select channel, "offset", type, at from event e
                   where ${before === undefined ? q`true` : q`at <= ${before.at}::text::timestamptz and (at, channel, "offset") < (${before.at}::text::timestamptz, ${before.channel}, ${before.offset}::bigint)`}
                     and ${after === undefined ? q`true` : unseen(q, after)}
                   order by at desc, channel desc, "offset" desc limit ${most}
                ), found as (
                  select * from looked
                   where (${kind ?? null}::text is null or split_part(channel, ':', 1) = ${kind ?? null}
                          or split_part(type, '.', 1) = ${kind ?? null})
                   order by at desc, channel desc, "offset" desc limit ${limit}
                )
                select (select jsonb_build_object('at', now()::text, 'below', below, 'running',
                               array(select below - x::text::bigint from pg_snapshot_xip(s) x)) from sight) as sight,
                       (select count(*)::int from looked) as looked,
                       (select jsonb_build_object('at', at::text, 'channel', channel, 'offset', "offset")
                          from looked order by looked.at, channel, "offset" limit 1) as last,
                       (select coalesce(jsonb_agg(jsonb_build_object('exactly', f.at::text, 'event',
                               jsonb_build_object('channel', f.channel, 'offset', f."offset", 'event', f.type,
                                                  'data', e.data, 'at', wire_time(f.at)))
                               order by f.at desc, f.channel desc, f."offset" desc), '[]')
                          from found f join event e using (channel, "offset")) as found`,
            ),
            ([row]) => {
              const { found, last, looked, sight } = row!
              const events = found.map(({ event, exactly }) => ({
                event,
                place: { at: exactly, channel: event.channel, offset: event.offset },
              }))
              const end = events.length === limit ? events.at(-1)?.place : looked === most ? last : undefined
              return { events, end: end ?? undefined, sight, isQuiet: looked === 0 }
            },
          )
        },
      })
    }),
  )
}
