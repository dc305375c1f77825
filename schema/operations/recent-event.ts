import { Schema } from "effect"
import { DateTime, Int, Json } from "../wire-format.ts"

/** An event of a channel, with the same members as in the live protocol. */
export const RecentEvent = Schema.Struct({
  channel: Schema.String,
  offset: Int,
  event: Schema.String,
  data: Json,
  at: DateTime,
}).annotate({ identifier: "RecentEvent" })
export type RecentEvent = typeof RecentEvent.Type

export const RecentEvents = Schema.Struct({
  data: Schema.Array(RecentEvent),
  /** The `before` parameter for the next page of older events. Missing on the last page. */
  before: Schema.optionalKey(Schema.String),
  /** The `after` parameter for a later request that returns newer events. */
  after: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "RecentEvents" })
