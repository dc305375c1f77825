export type Scale = "linear" | "log" | "nines"

export interface Axis {
  readonly label: string
  readonly scale: Scale
}

export interface Series {
  readonly name: string
  readonly points: readonly (readonly [number, number])[]
  /** Series of the same group have the same colour. A series without a group has its own colour. */
  readonly group?: string
  readonly dashed?: boolean
}

export interface Chart {
  readonly title: string
  readonly x: Axis
  readonly y: Axis
  readonly series: readonly Series[]
}

const width = 760
const height = 420
const left = 70
const right = width - 40
const bottom = height - 56
const legendTop = 48
const legendRow = 18
const legendCharWidth = 7
const ink = "#1f2430"
const faint = "#d9dce3"
// These colours remain distinct for people with red-green colour blindness.
const colours = ["#0b6bcb", "#d9480f", "#2b8a3e", "#862e9c", "#a07800"]
/** The position of "max" on an axis of nines. On this axis 90 % is at 1, 99 % at 2, 99.9 % at 3 and 99.99 % at 4. */
const nineOfMax = 4.6

/** Returns a line chart as SVG text. The chart has a white background. */
export function chartSvg(chart: Chart): string {
  const xs = chart.series.flatMap((series) => series.points.map(([x]) => x))
  const ys = chart.series.flatMap((series) => series.points.map(([, y]) => y))
  const legend = placeLegend(chart.series)
  const top = legendTop + legend.rows * legendRow
  const x = placeOn(chart.x, xs, left, right)
  const y = placeOn(chart.y, ys, bottom, top)
  const colourOf = coloursOf(chart.series)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${escapeXml(chart.title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="${left}" y="24" font-size="16" font-weight="600" fill="${ink}">${escapeXml(chart.title)}</text>`,
    ...x.ticks.map(
      (tick) =>
        line(x.at(tick), top, x.at(tick), bottom) + text(x.at(tick), bottom + 18, x.format(tick), "middle"),
    ),
    ...y.ticks.map(
      (tick) =>
        line(left, y.at(tick), right, y.at(tick)) + text(left - 8, y.at(tick) + 4, y.format(tick), "end"),
    ),
    text((left + right) / 2, height - 14, chart.x.label, "middle"),
    `<text transform="translate(16 ${(top + bottom) / 2}) rotate(-90)" text-anchor="middle" fill="${ink}">${escapeXml(chart.y.label)}</text>`,
    ...chart.series.map((series) => drawSeries(series, colourOf(series), x.at, y.at)),
    ...legend.entries.map(({ series, at }) => drawKey(series, colourOf(series), at.x, at.y)),
    "</svg>",
    "",
  ].join("\n")
}

interface Placed {
  readonly at: (value: number) => number
  readonly ticks: readonly number[]
  readonly format: (value: number) => string
}

function placeOn({ scale }: Axis, values: readonly number[], from: number, to: number): Placed {
  if (scale === "nines") {
    const at = (percent: number) => from + (Math.min(nines(percent), nineOfMax) / nineOfMax) * (to - from)
    return {
      at,
      ticks: [0, 50, 90, 99, 99.9, 99.99, 100],
      format: (value) => (value === 100 ? "max" : `${value} %`),
    }
  }
  if (scale === "log") {
    const positive = values.filter((value) => value > 0)
    const low = Math.floor(Math.log10(Math.min(...positive, Number.MAX_VALUE)) || 0)
    const bottom = positive.length === 0 ? 0 : low
    const top = positive.length === 0 ? 1 : Math.max(bottom + 1, Math.ceil(Math.log10(Math.max(...positive))))
    const at = (value: number) => {
      const exponent = value > 0 ? Math.log10(value) : bottom
      return from + ((exponent - bottom) / (top - bottom)) * (to - from)
    }
    const ticks = Array.from({ length: top - bottom + 1 }, (_, i) => 10 ** (bottom + i))
    return { at, ticks, format: formatTick }
  }
  const step = niceStep(Math.max(...values, 0) || 1)
  const top = Math.ceil((Math.max(...values, 0) || 1) / step) * step
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step)
  return { at: (value) => from + (value / top) * (to - from), ticks, format: formatTick }
}

const nines = (percent: number): number => (percent >= 100 ? nineOfMax : -Math.log10(1 - percent / 100))

function niceStep(most: number): number {
  const rough = most / 5
  const unit = 10 ** Math.floor(Math.log10(rough))
  return [1, 2, 5, 10].map((factor) => factor * unit).find((step) => step >= rough) ?? 10 * unit
}

const formatTick = (value: number): string =>
  value >= 1000
    ? value.toLocaleString("en-US", { maximumFractionDigits: 0 })
    : String(Number(value.toPrecision(3)))

function coloursOf(series: readonly Series[]): (series: Series) => string {
  const groups = [...new Set(series.map((one) => one.group ?? one.name))]
  return (one) => colours[groups.indexOf(one.group ?? one.name) % colours.length]!
}

function drawSeries(
  series: Series,
  colour: string,
  x: (v: number) => number,
  y: (v: number) => number,
): string {
  const places = series.points.map(([a, b]) => [x(a).toFixed(1), y(b).toFixed(1)] as const)
  const path = places.map(([a, b]) => `${a},${b}`).join(" ")
  const dots = places.map(([a, b]) => `<circle cx="${a}" cy="${b}" r="3" fill="${colour}"/>`).join("")
  return `<polyline points="${path}" fill="none" ${stroke(series, colour)}/>${dots}`
}

const drawKey = (series: Series, colour: string, x: number, y: number): string =>
  `<line x1="${x}" y1="${y - 4}" x2="${x + 20}" y2="${y - 4}" ${stroke(series, colour)}/>${text(x + 26, y, series.name, "start")}`

const stroke = ({ dashed }: Series, colour: string): string =>
  `stroke="${colour}" stroke-width="2"${dashed ? ' stroke-dasharray="5 4"' : ""}`

interface Legend {
  readonly entries: readonly {
    readonly series: Series
    readonly at: { readonly x: number; readonly y: number }
  }[]
  readonly rows: number
}

function placeLegend(all: readonly Series[]): Legend {
  let x = left
  let row = 0
  const entries = all.map((series) => {
    const size = 46 + series.name.length * legendCharWidth
    if (x > left && x + size > right) {
      x = left
      row++
    }
    const at = { x, y: legendTop + row * legendRow }
    x += size
    return { series, at }
  })
  return { entries, rows: row + 1 }
}

const line = (x1: number, y1: number, x2: number, y2: number): string =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${faint}"/>`

const text = (x: number, y: number, content: string, anchor: string): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${ink}">${escapeXml(content)}</text>`

const escapeXml = (value: string): string =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
