import type { Metric } from "../../../client/api-types.ts"
import { barChart } from "../parts/chart.ts"
import { fill, h } from "../parts/dom.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { drawForId } from "./id-choice.ts"

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" })
const dayMs = 86_400_000

/** The lookups of each day. The service sends only the days on which there were any. */
const daysOf = ({ finish_date, start_date }: Metric, metrics: ReadonlyArray<Metric>) => {
  const known = new Map(
    metrics
      .filter(({ metric }) => metric === "daily_views")
      .map(({ start_date, value }) => [Date.parse(start_date), value]),
  )
  const days: Array<{ readonly ms: number; readonly value: number }> = []
  for (let ms = Date.parse(start_date); ms <= Date.parse(finish_date); ms += dayMs)
    days.push({ ms, value: known.get(ms) ?? 0 })
  return days
}

const drawMetrics = (place: Element, id: string, metrics: ReadonlyArray<Metric>): void => {
  const total = metrics.find(({ metric }) => metric === "views")
  const days = total === undefined ? [] : daysOf(total, metrics)
  const values = days.map(({ value }) => value)
  const highest = Math.max(0, ...values)
  fill(
    place,
    h(
      "section",
      {},
      h(
        "p",
        { class: "lookups-total" },
        h("strong", {}, (total?.value ?? 0).toLocaleString("en")),
        " lookups",
      ),
      h("p", { class: "soft small" }, `${total?.description ?? "Lookups"}. Days are counted in UTC.`),
      days.length > 0 &&
        barChart({
          title: "Lookups per day",
          summary: `Lookups of ${id} per day. The highest day has ${highest}.`,
          bars: days.map(({ ms, value }) => ({ label: day.format(ms), value })),
          show: (value) => value.toLocaleString("en"),
          headings: ["Day", "Lookups"],
        }),
    ),
  )
}

/** How often the ids of the user were looked up. */
export const drawStatistics: Section["draw"] = async (place, _, [wanted]) => {
  const chosen = h("div", {})
  fill(place, h("p", { class: "soft" }, "How often wallets and people looked up your id."), chosen)
  await drawForId(chosen, wanted, async (shown, id) => {
    const { metrics } = await call("GET /emoji_id/{emoji_id}/stats", { params: { emoji_id: id } })
    drawMetrics(shown, id, metrics)
  })
}
