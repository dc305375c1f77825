import { Schema } from "effect"
import { DateTime, Int, Json } from "../wire-format.ts"

/** Something that happened, as its channel tells it. */
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
  /** Ask with this `before` for what came earlier; left out at the end. */
  before: Schema.optionalKey(Schema.String),
  /** Ask with this `after` for what has come since. */
  after: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "RecentEvents" })
