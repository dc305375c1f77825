import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { Client, SqlPiece } from "../postgres/client.ts"
import { Sql } from "../postgres/sql.ts"

/** A position in a channel. A client at this position has received all events up to the offset. */
export interface Position {
  readonly epoch: string
  readonly offset: number
}

/** A stored event. `data` is JSON text, which is sent to the client without parsing it. */
export interface EventRow {
  readonly offset: number
  readonly type: string
  readonly data: string
  readonly at: string
}

/** The current position of a channel and what a new subscriber needs, read with one statement. */
export interface Opening extends Position {
  /**
   * All events after the requested position. Undefined if no position was requested, or if the events after it are too
   * many or not all stored.
   */
  readonly missed: ReadonlyArray<EventRow> | undefined
  /** The state as JSON text. Undefined if `missed` has the events instead, or if no state expression was given. */
  readonly state: string | undefined
  /**
   * The ids of the users who take part in the order or transfer. Null if it does not exist, or for other channels.
   */
  readonly parties: ReadonlyArray<string | null> | null
}

/** The events of a channel after a known position, and the channel's current position. */
export interface News extends Position {
  readonly name: string
  /**
   * Empty if the epoch changed. If the first offset is not the next one, the events in between are no longer stored.
   */
  readonly events: ReadonlyArray<EventRow>
  readonly parties: ReadonlyArray<string | null> | null
}

export interface Standing extends Position {
  readonly name: string
}

/** A scalar SQL expression of type jsonb. It is evaluated in the same statement that reads the position. */
export type StateExpression = (sql: Client) => SqlPiece

export interface PrunedChannels {
  /** Where the next batch begins. Null after the last one. */
  readonly lastName: string | null
  readonly deleted: number
  /** The highest offset of an unused channel that was not deleted because the floor is lower. */
  readonly highest: number | null
}

const noState: StateExpression = (sql) => sql`null::jsonb`
/**
 * These two constants limit the number of events that one read returns, in total and for each channel. A channel with
 * many events must not delay other channels, and the result must fit in memory.
 */
const newsAtOnce = 10_000
const newsPerChannel = 200

interface NewsRow extends Position {
  readonly name: string
  readonly events: ReadonlyArray<EventRow> | null
  readonly parties: ReadonlyArray<string | null> | null
}

/** Reads committed events. Offsets are assigned under the row lock of the channel, so they have no gaps. */
export class Events extends Context.Service<
  Events,
  {
    /**
     * Reads the channel's position with one statement. If all events after the position `after` are still stored, and
     * there are at most `replayLimit` of them, the statement also reads these events. Otherwise it reads the state.
     */
    open(
      name: string,
      after: Position | undefined,
      replayLimit: number,
      state?: StateExpression,
    ): Effect.Effect<Opening, Unavailable>
    /**
     * Reads with one statement the new events of all channels whose position differs from the given position. A channel
     * that never had an event is returned if the epoch has changed.
     */
    news(standings: ReadonlyArray<Standing>): Effect.Effect<ReadonlyArray<News>, Unavailable>
    /** Reads the next events of one channel after an offset, oldest first. */
    after(name: string, offset: number, limit: number): Effect.Effect<ReadonlyArray<EventRow>, Unavailable>
    /** `trimOld` and `trimChannels` delete at most `batch` events and return the number of deleted events. */
    trimOld(keepHours: number, batch: number): Effect.Effect<number, Unavailable>
    trimChannels(
      names: ReadonlyArray<string>,
      keepPerChannel: number,
      batch: number,
    ): Effect.Effect<number, Unavailable>
    /** Returns how long ago the oldest stored event was committed. 0 if there is none. */
    readonly oldestSeconds: Effect.Effect<number, Unavailable>
    /**
     * Deletes unused channels among the next `batch` channels after the name `past`. Returns undefined if the floor of
     * their offsets was raised less than `settledSeconds` ago. See the SQL function.
     */
    pruneChannels(
      past: string,
      batch: number,
      settledSeconds: number,
    ): Effect.Effect<PrunedChannels | undefined, Unavailable>
    raiseChannelFloor(wanted: number, settledSeconds: number): Effect.Effect<void, Unavailable>
  }
>()("directory/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function* () {
      const sql = yield* Sql

      const open = (
        name: string,
        after: Position | undefined,
        replayLimit: number,
        state: StateExpression = noState,
      ) =>
        sql
          .rows<{
            epoch: string
            offset: number
            events: ReadonlyArray<EventRow> | null
            state: string | null
            parties: Opening["parties"]
            recovered: boolean
          }>(
            (q) => q`
              with head as (
                select l.epoch, coalesce(c."offset", channel_start(${name}, l.channel_floor)) as "offset"
                  from live_epoch l left join channel c on c.name = ${name}
              ), judged as (
                select h.*, coalesce(h.epoch = ${after?.epoch ?? null}::uuid
                         and h."offset" - ${after?.offset ?? 0}::bigint between 0 and ${replayLimit}::bigint
                         and (select count(*) from event e where e.channel = ${name} and e."offset" > ${after?.offset ?? 0}::bigint)
                             = h."offset" - ${after?.offset ?? 0}::bigint, false) as recovered
                  from head h
              )
              select j.epoch, j."offset", j.recovered,
                     case when j.recovered then
                       (select coalesce(jsonb_agg(event_row(e) order by e."offset"), '[]') from event e
                         where e.channel = ${name} and e."offset" > ${after?.offset ?? 0}::bigint)
                     end as events,
                     case when not j.recovered then (${state(q)})::text end as state,
                     case when ${hasParties(name)} then channel_parties(${name}) end as parties
                from judged j`,
          )
          .pipe(
            Effect.map(
              ([row]): Opening => ({
                epoch: row!.epoch,
                offset: row!.offset,
                missed: row!.events ?? undefined,
                state: row!.state ?? undefined,
                parties: row!.parties,
              }),
            ),
          )

      const news = (standings: ReadonlyArray<Standing>) =>
        sql
          .rows<NewsRow>(
            (q) => q`
              select w.name, l.epoch, coalesce(c."offset", channel_start(w.name, l.channel_floor)) as "offset",
                     case when l.epoch = w.epoch and c."offset" > w."offset" then
                       (select jsonb_agg(event_row(e) order by e."offset")
                          from (select * from event e where e.channel = c.name and e."offset" > w."offset"
                                 order by e."offset" limit ${perChannel(standings.length)}) e)
                     end as events,
                     case when w.name like 'order:%' or w.name like 'transfer:%' then channel_parties(w.name) end as parties
                from live_epoch l
               cross join unnest(${standings.map((s) => s.name)}::text[], ${standings.map((s) => s.epoch)}::uuid[],
                                 ${standings.map((s) => s.offset)}::bigint[]) as w(name, epoch, "offset")
                left join lateral (select * from channel i where i.name = w.name offset 0) c on true
               where c."offset" <> w."offset" or l.epoch <> w.epoch`,
          )
          .pipe(Effect.map((rows) => rows.map((row) => ({ ...row, events: row.events ?? [] }))))

      const after = (name: string, offset: number, limit: number) =>
        sql
          .rows<{ row: EventRow }>(
            (
              q,
            ) => q`select event_row(e) as row from event e where e.channel = ${name} and e."offset" > ${offset}
                      order by e."offset" limit ${limit}`,
          )
          .pipe(Effect.map((rows) => rows.map(({ row }) => row)))

      const trimOld = (keepHours: number, batch: number) =>
        sql
          .rows<{ trimmed: number }>(
            (q) => q`select trim_old_events(make_interval(hours => ${keepHours}), ${batch}) as trimmed`,
          )
          .pipe(Effect.map(([row]) => row?.trimmed ?? 0))

      const trimChannels = (names: ReadonlyArray<string>, keepPerChannel: number, batch: number) =>
        sql
          .rows<{ trimmed: number }>(
            (q) => q`select trim_channels(${names as string[]}, ${keepPerChannel}, ${batch}) as trimmed`,
          )
          .pipe(Effect.map(([row]) => row?.trimmed ?? 0))

      const oldestSeconds = sql
        .rows<{ seconds: number }>(
          (q) => q`select extract(epoch from now() - at)::float8 as seconds from event order by at limit 1`,
        )
        .pipe(Effect.map(([row]) => Math.max(0, row?.seconds ?? 0)))

      const pruneChannels = (past: string, batch: number, settledSeconds: number) =>
        sql
          .rows<PrunedChannels>(
            (q) => q`select last_name as "lastName", deleted, highest
                       from prune_channels(${past}, ${batch}, make_interval(secs => ${settledSeconds}))`,
          )
          .pipe(Effect.map(([row]) => row))

      const raiseChannelFloor = (wanted: number, settledSeconds: number) =>
        sql
          .rows((q) => q`select raise_channel_floor(${wanted}, make_interval(secs => ${settledSeconds}))`)
          .pipe(Effect.asVoid)

      return Events.of({
        open,
        news,
        after,
        trimOld,
        trimChannels,
        oldestSeconds,
        pruneChannels,
        raiseChannelFloor,
      })
    }),
  )
}

const perChannel = (channels: number): number =>
  Math.max(5, Math.min(newsPerChannel, Math.floor(newsAtOnce / channels)))

const hasParties = (name: string): boolean => name.startsWith("order:") || name.startsWith("transfer:")
