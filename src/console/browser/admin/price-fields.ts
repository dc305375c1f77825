import type { MarketParameters } from "../../../client/api-types.ts"
import { choice, field, fill, h } from "../parts/dom.ts"

type Points = MarketParameters["points"]

const lengths = [1, 2, 3, 4, 5, 6]
const offers = [
  ["sale", "For sale"],
  ["soon", "Coming soon"],
  ["none", "No price"],
] as const
/** The largest price that the service accepts, in dollars. */
const maxDollars = "21474836.47"

const offerOf = (length: number, { coming_soon_lengths, unpriced_lengths }: MarketParameters): string => {
  if (coming_soon_lengths.includes(length)) return "soon"
  return unpriced_lengths.includes(length) ? "none" : "sale"
}

const pointRow = (number: number, point: Points[number], isOnly: boolean, remove: () => void) =>
  h(
    "fieldset",
    { class: "price-point" },
    h("legend", {}, `Price point ${number}`),
    field("Score", {
      name: "score",
      type: "number",
      min: "1",
      max: "100",
      step: "1",
      required: true,
      value: String(point.score),
    }),
    field("Price in $", {
      name: "dollars",
      type: "number",
      min: "0",
      max: maxDollars,
      step: "0.01",
      required: true,
      value: (point.price_in_cents / 100).toFixed(2),
    }),
    h(
      "button",
      {
        type: "button",
        class: "plain small",
        disabled: isOnly,
        "aria-label": `Remove price point ${number}`,
        onclick: remove,
      },
      "Remove",
    ),
  )

const lengthChoice = (length: number, parameters: MarketParameters) => {
  const whole = choice(`Ids with ${length} emoji`, `length-${length}`, offers)
  const select = whole.querySelector("select")
  if (select !== null) select.value = offerOf(length, parameters)
  return whole
}

const numbersOf = (form: Element, name: string): ReadonlyArray<number> =>
  [...form.querySelectorAll<HTMLInputElement>(`input[name="${name}"]`)].map((input) =>
    input.value === "" ? Number.NaN : Number(input.value),
  )

const readPoints = (form: Element): Points => {
  const dollars = numbersOf(form, "dollars")
  return numbersOf(form, "score").map((score, n) => ({
    score,
    price_in_cents: Math.round((dollars[n] ?? Number.NaN) * 100),
  }))
}

const readLengths = (form: Element, offer: string): ReadonlyArray<number> =>
  lengths.filter(
    (length) => form.querySelector<HTMLSelectElement>(`[name="length-${length}"]`)?.value === offer,
  )

/** Returns the parameters that the fields contain. */
export const readFields = (form: Element): MarketParameters => ({
  points: readPoints(form),
  coming_soon_lengths: readLengths(form, "soon"),
  unpriced_lengths: readLengths(form, "none"),
})

/** Says why the points cannot be saved. Undefined if they can. */
export const problemOf = ({ points }: MarketParameters): string | undefined => {
  for (const [n, { price_in_cents: price, score }] of points.entries()) {
    if (!Number.isInteger(score) || score < 1 || score > 100)
      return `Price point ${n + 1} needs a rhythm score from 1 to 100.`
    if (!Number.isInteger(price) || price < 0) return `Price point ${n + 1} needs a price of at least $0.`
    const before = points[n - 1]
    if (before === undefined) continue
    if (before.score >= score)
      return `The score of price point ${n + 1} must be higher than the one before it.`
    if (before.price_in_cents > price)
      return `The price of price point ${n + 1} must not be lower than the one before it.`
  }
  return undefined
}

/** The next price point: halfway between the last one and the score 100. */
const nextPoint = (points: Points): Points[number] => {
  const last = points.at(-1)
  const score = Math.min(100, Math.ceil(((last?.score ?? 0) + 100) / 2))
  return { score, price_in_cents: last?.price_in_cents ?? 0 }
}

/** The fields for all parameters. `changed` is called after a price point was added or removed. */
export const priceFields = (parameters: MarketParameters, changed: () => void) => {
  const rows = h("div", { class: "price-points" })
  const draw = (points: Points): void => {
    fill(
      rows,
      points.map((point, n) =>
        pointRow(n + 1, point, points.length === 1, () => {
          draw(readPoints(rows).filter((_, other) => other !== n))
          changed()
        }),
      ),
    )
  }
  const add = () => {
    const points = readPoints(rows)
    draw([...points, nextPoint(points)])
    rows.querySelector<HTMLInputElement>("fieldset:last-child input")?.focus()
    changed()
  }
  draw(parameters.points)
  return [
    rows,
    h("button", { type: "button", class: "plain small", onclick: add }, "Add a price point"),
    h("h3", {}, "Which lengths are for sale"),
    h(
      "div",
      { class: "price-lengths" },
      lengths.map((length) => lengthChoice(length, parameters)),
    ),
  ]
}
