import { Effect } from "effect"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import { dailyViewsMetric, type Metric, viewsMetric } from "../../schema/directory/metric.ts"
import { NotFound } from "../../schema/errors.ts"
import { DatabaseClock } from "../postgres/database-clock.ts"
import { EmojiIds } from "./id-store.ts"
import { notRegisteredText } from "./lookup/answer.ts"

/**
 * Returns the views of an id: first the sum of the past 28 days, then one metric for each of these days that had views,
 * newest first. Fails with 404 if the id is not registered.
 */
export const getStatistics = Effect.fnUntraced(function* (id: EmojiId) {
  const ids = yield* EmojiIds
  const nowMs = (yield* DatabaseClock).now()
  const views = (yield* ids.views([id.canonical])).get(id.canonical)
  if (views === undefined) return yield* new NotFound({ error: notRegisteredText })
  const days = yield* ids.dailyViews(id.canonical)
  const metrics: ReadonlyArray<Metric> = [
    viewsMetric(id, views, nowMs),
    ...days.map(({ day, views }) => dailyViewsMetric(id, day, views)),
  ]
  return { emoji_id: id.canonical, metrics }
})
