import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { RecentEvent } from "../../schema/operations/recent-event.ts"
import { AppConfig } from "../config/read-config.ts"
import type { Client, SqlPiece } from "../postgres/client.ts"
import { Sql } from "../postgres/sql.ts"

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

/** The first part of the channel name and of the type. The indexes have these expressions. */
const channelKind = (q: Client) => q`split_part(channel, ':', 1)`
const typeKind = (q: Client) => q`split_part(type, '.', 1)`

/** The ranges that contain the events of a kind. An event is in at most one of them. */
const rangesOf = (q: Client, kind: string | undefined): ReadonlyArray<SqlPiece> =>
  kind === undefined
    ? [q`true`]
    : [q`${typeKind(q)} = ${kind}`, q`${channelKind(q)} = ${kind} and ${channelKind(q)} <> ${typeKind(q)}`]

/** Lists the events of all channels for administrators. */
export class RecentEventLists extends Context.Service<
  RecentEventLists,
  {
    /** Lists events, newest first. */
    list(filter: EventFilter): Effect.Effect<
      {
        readonly events: ReadonlyArray<{ readonly event: RecentEvent; readonly place: Place }>
        /** The position where the next request continues. Undefined if there are no older events. */
        readonly end: Place | undefined
        readonly sight: Sight
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
      const isOlder = (q: Client, { at, channel, offset }: Place) =>
        q`at <= ${at}::text::timestamptz and (at, channel, "offset") < (${at}::text::timestamptz, ${channel}, ${offset}::bigint)`
      const unseen = (q: Client, { at, below, running }: Sight) =>
        q`at >= ${at}::text::timestamptz - make_interval(secs => ${longestSeconds})
          and (${number(q)} >= ${below}::bigint or ${below}::bigint - ${number(q)} = any(${running as number[]}::bigint[]))`
      return RecentEventLists.of({
        list: ({ after, before, kind, limit }) =>
          Effect.map(
            sql.rows<{ found: ReadonlyArray<Found>; sight: Sight }>((q) => {
              const from = before === undefined ? q`true` : isOlder(q, before)
              const since = after === undefined ? q`true` : unseen(q, after)
              const parts = rangesOf(q, kind).map(
                (
                  range,
                ) => q`(select channel, "offset", type, at from event e where ${range} and ${from} and ${since}
                               order by at desc, channel desc, "offset" desc limit ${limit})`,
              )
              return q`
                with sight as materialized (
                  select s, pg_snapshot_xmax(s)::text::bigint as below from (select pg_current_snapshot() as s) now_seen
                ), found as materialized (
                  select * from (${parts.reduce((all, part) => q`${all} union all ${part}`)}) u
                   order by at desc, channel desc, "offset" desc limit ${limit}
                )
                select (select jsonb_build_object('at', now()::text, 'below', below, 'running',
                               array(select below - x::text::bigint from pg_snapshot_xip(s) x)) from sight) as sight,
                       (select coalesce(jsonb_agg(jsonb_build_object('exactly', f.at::text, 'event',
                               jsonb_build_object('channel', f.channel, 'offset', f."offset", 'event', f.type,
                                                  'data', e.data, 'at', wire_time(f.at)))
                               order by f.at desc, f.channel desc, f."offset" desc), '[]')
                          from found f join event e using (channel, "offset")) as found`
            }),
            ([row]) => {
              const { found, sight } = row!
              const events = found.map(({ event, exactly }) => ({
                event,
                place: { at: exactly, channel: event.channel, offset: event.offset },
              }))
              return { events, end: events.length === limit ? events.at(-1)?.place : undefined, sight }
            },
          ),
      })
    }),
  )
}
