import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { RecentEvent } from "../../schema/recent-event.ts"
import { Sql } from "./sql.ts"

/** A place among all events: by time, and among those of one commit by channel and offset. */
export interface Place {
  readonly at: string
  readonly channel: string
  readonly offset: number
}

export interface EventFilter {
  /** The first part of a channel's name or of an event's, such as `cart`. */
  readonly kind: string | undefined
  readonly before: Place | undefined
  readonly after: Place | undefined
  readonly limit: number
}

interface Row extends RecentEvent {
  /** To the microsecond, which the wire's times are not. */
  readonly exactly: string
}

/** Events of all channels as one story, for those who run the service. */
export class RecentEventLists extends Context.Service<
  RecentEventLists,
  {
    /** Newest first. */
    list(
      filter: EventFilter,
    ): Effect.Effect<ReadonlyArray<RecentEvent & { readonly place: Place }>, Unavailable>
  }
>()("directory/RecentEventLists") {
  static readonly layer = Layer.effect(
    RecentEventLists,
    Effect.gen(function* () {
      const sql = yield* Sql
      return RecentEventLists.of({
        list: ({ after, before, kind, limit }) =>
          Effect.map(
            sql.rows<Row>(
              (q) => q`select channel, "offset", type as event, data, wire_time(at) as at, at::text as exactly
                         from event
                        where (${kind ?? null}::text is null or split_part(channel, ':', 1) = ${kind ?? null}
                               or split_part(type, '.', 1) = ${kind ?? null})
                          and ${before === undefined ? q`true` : q`at <= ${before.at}::text::timestamptz and (at, channel, "offset") < (${before.at}::text::timestamptz, ${before.channel}, ${before.offset}::bigint)`}
                          and ${after === undefined ? q`true` : q`at >= ${after.at}::text::timestamptz and (at, channel, "offset") > (${after.at}::text::timestamptz, ${after.channel}, ${after.offset}::bigint)`}
                        order by at desc, channel desc, "offset" desc limit ${limit}`,
            ),
            (rows) =>
              rows.map(({ exactly, ...event }) => ({
                ...event,
                place: { at: exactly, channel: event.channel, offset: event.offset },
              })),
          ),
      })
    }),
  )
}
