import { Schema } from "effect"
import { isoTime } from "../iso-time.ts"
import { DateTime } from "../wire-format.ts"
import type { EmojiId } from "./emoji-id.ts"

export const Metric = Schema.Struct({
  metric: Schema.String,
  description: Schema.String,
  key: Schema.String,
  /** -1 when unavailable. */
  value: Schema.Int,
  start_date: DateTime,
  finish_date: DateTime,
}).annotate({ identifier: "Metric" })
export type Metric = typeof Metric.Type

export const EmojiStatsResponse = Schema.Struct({
  emoji_id: Schema.String,
  metrics: Schema.Array(Metric),
}).annotate({ identifier: "EmojiStatsResponse" })

/** Views are kept by the day, so a window is so many whole days and ends now. */
export const viewWindowDays = 28
const dayMs = 86_400_000

const startOfDay = (ms: number): number => ms - (ms % dayMs)

/**
 * How often an id was looked up lately. The key is the short name: a lookup's body is then plain ASCII most of the time,
 * which halves the memory of a prepared answer. -1 for an id that is not registered, whose views nobody
 * counts.
 */
export const viewsMetric = (id: EmojiId, views: number, nowMs: number): Metric => ({
  metric: "views",
  description: `Lookups in the past ${viewWindowDays} days`,
  key: id.shortname,
  value: views,
  start_date: isoTime(startOfDay(nowMs) - (viewWindowDays - 1) * dayMs),
  finish_date: isoTime(nowMs),
})

/** `day` is a date such as 2026-03-01. */
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
