import { Context, type Effect } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { LookupResult } from "../../schema/live-frames.ts"
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

/** Signs live results. The directory implements it, because `src/live` imports no subject. */
export class LiveProofs extends Context.Service<
  LiveProofs,
  {
    /**
     * Adds a proof to each result about an emoji id. Fails if an id was changed after it was read, or if the limit of the
     * address is used up.
     */
    add(
      results: ReadonlyArray<LookupResult>,
      address: string,
    ): Effect.Effect<ReadonlyArray<LookupResult>, Unavailable>
  }
>()("directory/LiveProofs") {}
