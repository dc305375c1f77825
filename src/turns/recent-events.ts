import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { RecentEvent } from "../../schema/operations/recent-event.ts"
import { AppConfig } from "../config/config.ts"
import { type Client, Sql } from "../postgres/sql.ts"

/** A place among all events: by time, and among those of one commit by channel and offset. */
export interface Place {
  readonly at: string
  readonly channel: string
  readonly offset: number
}

/**
 * What could be seen at a moment: the commits of all transactions below a number, but for those that still ran. An event
 * has the time its transaction began, so one that comes later may be of an earlier time than those told before.
 */
export interface Sight {
  readonly at: string
  readonly below: number
  /** How far below. */
  readonly running: ReadonlyArray<number>
}

export interface EventFilter {
  /** The first part of a channel's name or of an event's, such as `cart`. */
  readonly kind: string | undefined
  readonly before: Place | undefined
  readonly after: Sight | undefined
  readonly limit: number
}

interface Found {
  readonly event: RecentEvent
  /** To the microsecond, which the wire's times are not. */
  readonly exactly: string
}

/** Events have no index by their kind, which every turn would pay for: of a rare kind one look may find few, or none. */
const lookedThrough = 10_000

/** Events of all channels as one story, for those who run the service. */
export class RecentEventLists extends Context.Service<
  RecentEventLists,
  {
    /** Newest first. */
    list(filter: EventFilter): Effect.Effect<
      {
        readonly events: ReadonlyArray<{ readonly event: RecentEvent; readonly place: Place }>
        /** Where to go on; not there when everything has been looked through. */
        readonly end: Place | undefined
        readonly sight: Sight
        /** Nothing has happened at all, of whatever kind. */
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
      /** No statement runs longer: what is still to come is no older than that. */
      const longestSeconds = statementTimeoutMs / 1000 + 1
      /** A row knows the lower half of its transaction's number; nothing that is seen is above the present one. */
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
