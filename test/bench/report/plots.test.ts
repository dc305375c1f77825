import { describe, expect, it } from "vitest"
import { chartSvg } from "../../../bench/report/chart.ts"
import { plotsOf } from "../../../bench/report/plots.ts"
import { sampleResults, sampleRun, sampleScenario } from "./sample.ts"

const at = (rate: number) => sampleRun(rate, { offeredPerSecond: rate })
const pointsOf = (svg: string) =>
  [...svg.matchAll(/polyline points="([^"]*)"/g)].map(([, points]) =>
    points!.split(" ").map((point) => point.split(",").map(Number)),
  )

describe("plots", () => {
  it("show each scenario, and the cost by the number of stored ids if the scenarios store ids", () => {
    const side = { name: "service", peak: [sampleRun(1000)], atRate: [at(250), at(500)] }
    const stored = (ids: number) =>
      sampleScenario({ name: `ids-${ids}`, stored: { curve: "lookup", ids }, sides: [side] })
    expect(plotsOf(sampleResults(stored(1000), stored(1_000_000))).map(({ name }) => name)).toEqual([
      "ids-1000.latency",
      "ids-1000.percentiles",
      "ids-1000000.latency",
      "ids-1000000.percentiles",
      "cost-over-stored-ids",
    ])
  })

  it("are omitted if they have no data", () => {
    const names = plotsOf(sampleResults(sampleScenario())).map(({ name }) => name)
    expect(names).toEqual(["lookup.percentiles"])
  })

  it("place larger values further right and higher, inside the chart, on every scale", () => {
    for (const scale of ["linear", "log", "nines"] as const) {
      const points = [
        [10, 10],
        [90, 90],
        [99.5, 99.5],
      ] as const
      const axis = { label: "x", scale }
      const [line] = pointsOf(chartSvg({ title: "t", x: axis, y: axis, series: [{ name: "s", points }] }))
      const [first, second, third] = line!
      expect(first![0]).toBeLessThan(second![0]!)
      expect(second![0]).toBeLessThan(third![0]!)
      expect(first![1]).toBeGreaterThan(second![1]!)
      expect(second![1]).toBeGreaterThan(third![1]!)
      for (const [x, y] of line!) expect(x! >= 0 && x! <= 760 && y! >= 0 && y! <= 420).toBe(true)
    }
  })

  it("can show zeros and single points, and escape names that contain markup", () => {
    const series = [{ name: "<b>&", points: [[0, 0]] as const }]
    const svg = chartSvg({
      title: "a < b",
      x: { label: "x", scale: "log" },
      y: { label: "y", scale: "log" },
      series,
    })
    expect(svg).not.toMatch(/NaN|Infinity|<b>/)
    expect(svg).toContain("&lt;b&gt;&amp;")
  })
})
