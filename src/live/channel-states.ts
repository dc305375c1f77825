import { Context, type Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { SqlPiece, SqlTag as Tag } from "../store/events.ts"
import type { Channel, ChannelKind } from "./channels.ts"

/**
 * What a subscriber is shown before the events. `expression` is read in the very statement that reads the position.
 * `view` asks a service: the position is read around it, and its answer taken when nothing moved meanwhile.
 */
export type ChannelState =
  | { readonly expression: (channel: Channel, sql: Tag) => SqlPiece }
  | { readonly view: (channel: Channel) => Effect.Effect<unknown, Unavailable> }

// An entity as anybody concerned may see it. Its context stays inside: it may hold hashes of codes.
const facts = (sql: Tag) => sql`jsonb_build_object(
  'id', e.id, 'status', e.status, 'subject', e.subject, 'expires_at', wire_time(e.due_at),
  'created_at', wire_time(e.created_at), 'updated_at', wire_time(e.updated_at))`

const entity = (kind: string, id: string, sql: Tag) =>
  sql`select ${facts(sql)} from entity e where e.kind = ${kind} and e.id = ${id}`

const openEntities = (kind: string, userId: string, statuses: ReadonlyArray<string>, sql: Tag) =>
  sql`select coalesce(jsonb_agg(x.facts order by x.created_at desc), '[]') from (
        select ${facts(sql)} as facts, e.created_at from entity e
         where e.kind = ${kind} and (e.owner_id = ${userId} or e.peer_id = ${userId}) and e.status = any(${statuses})
         order by e.created_at desc limit 200) x`

const defaults: Readonly<Record<ChannelKind, ChannelState>> = {
  cart: {
    expression: ({ key }, sql) =>
      sql`select order_facts(e) from entity e
           where e.kind = 'order' and e.owner_id = ${key} and e.status in ('Draft', 'PendingPayment')`,
  },
  order: {
    expression: ({ key }, sql) =>
      sql`select order_facts(e) from entity e where e.kind = 'order' and e.id = ${key}`,
  },
  transfer: { expression: ({ key }, sql) => entity("transfer", key, sql) },
  transfers: {
    expression: ({ key }, sql) => openEntities("transfer", key, ["AwaitingSender", "AwaitingReceiver"], sql),
  },
  lootboxes: { expression: ({ key }, sql) => openEntities("lootbox", key, ["Owned"], sql) },
  session: {
    expression: ({ key }, sql) =>
      openEntities("session", key, ["Pending", "Verified", "Stale", "Locked"], sql),
  },
  interests: { expression: ({ key }, sql) => openEntities("interest", key, ["Open"], sql) },
  emoji_id: {
    expression: ({ key }, sql) => sql`select live_lookup(${key})`,
  },
  market: {
    expression: (_, sql) =>
      sql`select coalesce(jsonb_agg(jsonb_build_object('emoji_id', x.canonical, 'at', wire_time(x.registered_at))
                                    order by x.registered_at desc), '[]')
            from (select canonical, registered_at from emoji_id order by registered_at desc limit 20) x`,
  },
}

/** One way to show the state per kind of channel. Rooms with a richer view put theirs in the place of the plain one. */
export class ChannelStates extends Context.Service<
  ChannelStates,
  {
    of(kind: ChannelKind): ChannelState
    register(kind: ChannelKind, state: ChannelState): void
  }
>()("directory/ChannelStates") {
  static readonly layer = Layer.sync(ChannelStates, () => {
    const states: Record<ChannelKind, ChannelState> = { ...defaults }
    return ChannelStates.of({
      of: (kind) => states[kind],
      register: (kind, state) => {
        states[kind] = state
      },
    })
  })
}
