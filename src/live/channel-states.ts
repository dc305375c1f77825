import { Context, type Effect } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { Client, SqlPiece } from "../postgres/client.ts"
import type { Channel, ChannelKind } from "./channel-names.ts"

/**
 * The state a subscriber receives before the events. `expression` is read in the statement that reads the channel's
 * offset. `view` calls a service. The offset is read before and after the call. If it changed, the service is called
 * again, at most three times in total.
 */
export type ChannelState =
  | { readonly expression: (channel: Channel, sql: Client) => SqlPiece }
  | { readonly view: (channel: Channel) => Effect.Effect<unknown, Unavailable> }

/** The channel states that one subject provides. */
export type SubjectChannels<K extends ChannelKind> = Readonly<Record<K, ChannelState>>

/** A list in a channel's state has at most this many entries. */
export const stateEntries = 200
export const newestFirst = { dir: "Desc", limit: stateEntries, page: 0, sort: "created_at" } as const

export class ChannelStates extends Context.Service<ChannelStates, { of(kind: ChannelKind): ChannelState }>()(
  "directory/ChannelStates",
) {}
