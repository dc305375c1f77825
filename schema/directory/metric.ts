import { Schema } from "effect"
import { isoTime } from "../iso-time.ts"
import { DateTime } from "../wire-format.ts"
import type { EmojiId } from "./emoji-id.ts"

export const Metric = Schema.Struct({
  metric: Schema.String,
  description: Schema.String,
  key: Schema.String,
  /** The number of views. -1 if it is not available. */
  value: Schema.Int,
  start_date: DateTime,
  finish_date: DateTime,
}).annotate({ identifier: "Metric" })
export type Metric = typeof Metric.Type

export const EmojiStatsResponse = Schema.Struct({
  emoji_id: Schema.String,
  metrics: Schema.Array(Metric),
}).annotate({ identifier: "EmojiStatsResponse" })

/**
 * The number of days over which views are counted: the current day until now, and the 27 days before it. Views are
 * stored per day.
 */
export const viewWindowDays = 28
const dayMs = 86_400_000

const startOfDay = (ms: number): number => ms - (ms % dayMs)

/**
 * Returns the metric of how often an id was looked up in the past 28 days. Its key is the short name, not the emoji:
 * most lookup bodies are then plain ASCII, which halves the memory of a cached response. `views` is -1 for an
 * unregistered id, because its views are not counted.
 */
export const viewsMetric = (id: EmojiId, views: number, nowMs: number): Metric => ({
  metric: "views",
  description: `Lookups in the past ${viewWindowDays} days`,
  key: id.shortname,
  value: views,
  start_date: isoTime(startOfDay(nowMs) - (viewWindowDays - 1) * dayMs),
  finish_date: isoTime(nowMs),
})

/** Returns the metric of how often an id was looked up on one day. `day` is a date such as 2026-03-01. */
export const dailyViewsMetric = (id: EmojiId, day: string, views: number): Metric => {
  const start = Date.parse(`${day}T00:00:00Z`)
  return {
    metric: "daily_views",
    description: "Lookups on one day",
    key: id.shortname,
    value: views,
    start_date: isoTime(start),
    finish_date: isoTime(start + dayMs),
  }
}
