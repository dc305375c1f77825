import { h } from "./dom.ts"
import { table } from "./subnav.ts"

const namespace = "http://www.w3.org/2000/svg"

const shape = <K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number>>,
  ...children: ReadonlyArray<Node | string>
): SVGElementTagNameMap[K] => {
  const element = document.createElementNS(namespace, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
  element.append(...children)
  return element
}

const width = 300
const height = 80

const frame = (name: string, ...children: ReadonlyArray<Node>) =>
  shape(
    "svg",
    {
      class: "chart",
      viewBox: `0 0 ${width} ${height}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": name,
    },
    ...children,
  )

interface Bar {
  readonly label: string
  readonly value: number
}

interface BarChart {
  readonly title: string
  /** Says in words what the bars show. */
  readonly summary: string
  readonly bars: ReadonlyArray<Bar>
  readonly show: (value: number) => string
  /** The headings of the table with the same values. */
  readonly headings: readonly [label: string, value: string]
}

const bar = ({ label, value }: Bar, n: number, { bars, show }: BarChart) => {
  const highest = Math.max(1, ...bars.map((one) => one.value))
  const step = width / bars.length
  // A day without a value has a thin line, so that the days can be counted.
  const tall = Math.max(1, (value / highest) * (height - 2))
  const at = { x: n * step + step * 0.15, width: step * 0.7, y: height - tall, height: tall }
  return shape(
    "rect",
    { class: value > 0 ? "bar-value" : "bar-none", ...at },
    shape("title", {}, `${label}: ${show(value)}`),
  )
}

/** A chart with a bar for each value, and a table with the same values for those who cannot see the chart. */
export const barChart = (chart: BarChart) => {
  const { bars, headings, show, summary, title } = chart
  return h(
    "figure",
    { class: "chart-card" },
    h("figcaption", {}, h("strong", {}, title), h("span", { class: "soft small" }, summary)),
    frame(`${title}. ${summary}`, ...bars.map((one, n) => bar(one, n, chart))),
    h(
      "div",
      { class: "chart-ends soft small", "aria-hidden": "true" },
      h("span", {}, bars[0]?.label),
      h("span", {}, bars.at(-1)?.label),
    ),
    h(
      "details",
      {},
      h("summary", {}, "Show as a table"),
      table(
        headings,
        bars.toReversed().map(({ label, value }) => [label, show(value)]),
      ),
    ),
  )
}

/** Draws lines through values from 0 to 1, each from the left edge to the right edge. */
export const lineChart = (
  name: string,
  lines: ReadonlyArray<{ readonly class: string; readonly values: ReadonlyArray<number> }>,
) =>
  frame(
    name,
    ...lines.map(({ class: className, values }) =>
      shape("polyline", {
        class: className,
        points: values
          .map((value, n) => `${(n / (values.length - 1)) * width},${height - 2 - value * (height - 4)}`)
          .join(" "),
      }),
    ),
  )
