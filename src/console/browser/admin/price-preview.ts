import { priceInCents } from "../../../../schema/market/price-curve.ts"
import type { MarketParameters } from "../../../client/api-types.ts"
import { lineChart } from "../parts/chart.ts"
import { badge, emojiText, h } from "../parts/dom.ts"
import { dollars } from "../parts/format.ts"
import { table } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"

/** An id whose price is shown before and after a change. */
export interface Example {
  readonly id: string
  readonly length: number
  readonly score: number
}

/** Ids of every length, with and without a rhythm. */
const exampleIds = [
  "🔥",
  "🚀🚀",
  "🐢🌵",
  "🔥🔥🔥",
  "🍕🚪🍕",
  "🐢🎺🌵",
  "🚀🌊🚀🌊",
  "🐢🎺🌵🚪",
  "🍀🍀🍀🍀🍀",
  "🐢🎺🌵🚪🎲",
  "🐢🎺🌵🚪🎲🌊",
]

const segmenter = new Intl.Segmenter()

export const readExample = async (emoji_id: string): Promise<Example> => {
  const { rhythm } = await call("GET /emoji_id/{emoji_id}/rhythm", { params: { emoji_id } })
  return { id: emoji_id, length: [...segmenter.segment(emoji_id)].length, score: rhythm }
}

export const readExamples = (): Promise<ReadonlyArray<Example>> => Promise.all(exampleIds.map(readExample))

type Offer = number | "Coming soon" | "No price"

/** What a buyer sees for ids with this length and score. */
const offerOf = ({ length, score }: Example, parameters: MarketParameters): Offer => {
  if (parameters.coming_soon_lengths.includes(length)) return "Coming soon"
  if (parameters.unpriced_lengths.includes(length)) return "No price"
  return priceInCents(score, parameters.points)
}

const shown = (offer: Offer): string => (typeof offer === "number" ? dollars(offer) : offer)

const change = (before: Offer, after: Offer) => {
  if (before === after) return "No change"
  if (typeof before !== "number") return badge(typeof after === "number" ? "For sale" : "Changed", "warn")
  if (typeof after !== "number") return badge("Not for sale", "warn")
  const percent = before === 0 ? "" : ` ${Math.abs(Math.round((after / before - 1) * 100))}%`
  return after > before ? badge(`Up${percent}`, "good") : badge(`Down${percent}`, "bad")
}

const scores = Array.from({ length: 100 }, (_, n) => n + 1)

/** Prices grow by orders of magnitude, so the chart shows their logarithms. */
const curves = (before: MarketParameters, after: MarketParameters) => {
  const heights = ({ points }: MarketParameters) =>
    scores.map((score) => Math.log10(priceInCents(score, points) + 1))
  const [old, fresh] = [heights(before), heights(after)]
  const highest = Math.max(1, ...old, ...fresh)
  const share = (values: ReadonlyArray<number>) => values.map((value) => value / highest)
  return h(
    "figure",
    { class: "chart-card" },
    h(
      "figcaption",
      {},
      h("strong", {}, "Price by rhythm score"),
      h(
        "span",
        { class: "soft small" },
        "Dashed: now. Solid: after saving. The table below has the numbers.",
      ),
    ),
    lineChart("Price by rhythm score, from 1 to 100, on a logarithmic scale", [
      { class: "line-before", values: share(old) },
      { class: "line-after", values: share(fresh) },
    ]),
    h(
      "div",
      { class: "chart-ends soft small", "aria-hidden": "true" },
      h("span", {}, "Score 1"),
      h("span", {}, "Score 100"),
    ),
  )
}

/** How many of the examples get another price. */
export const countChanged = (
  examples: ReadonlyArray<Example>,
  before: MarketParameters,
  after: MarketParameters,
): number => examples.filter((example) => offerOf(example, before) !== offerOf(example, after)).length

/** Shows the prices of example ids now and after saving. */
export const drawPreview = (
  examples: ReadonlyArray<Example>,
  before: MarketParameters,
  after: MarketParameters,
) => [
  curves(before, after),
  table(
    ["Example", "Emoji", "Score", "Now", "After saving", "Change"],
    examples.map((example) => {
      const [old, fresh] = [offerOf(example, before), offerOf(example, after)]
      return [
        emojiText(example.id, "in-table"),
        example.length,
        example.score,
        shown(old),
        h("strong", {}, shown(fresh)),
        change(old, fresh),
      ]
    }),
  ),
]
