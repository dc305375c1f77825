import { describe, expect, it } from "vitest"
import { lasting, mergeWorkers } from "../../src/telemetry/merge.ts"
import { Registry } from "../../src/telemetry/registry.ts"
import { toText } from "../../src/telemetry/text-format.ts"

/** The lines with values of a registry, or of what several workers have sent as JSON. */
const linesOf = (...workers: ReadonlyArray<Registry>): ReadonlyArray<string> =>
  toText(
    mergeWorkers(
      workers.map((registry, i) => ({
        worker: String(i + 1),
        families: JSON.parse(JSON.stringify(registry.collect(i === 0))),
      })),
    ),
  )
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))

describe("the metrics of a process", () => {
  it("are written with help, type and escaped labels", () => {
    const metrics = new Registry()
    metrics.counter("found_total", "Found\nthings", { labels: { path: '/"a"\\' } }).add(2)
    expect(toText(metrics.collect(true))).toBe(
      '# HELP found_total Found\\nthings\n# TYPE found_total counter\nfound_total{path="/\\"a\\"\\\\"} 2\n',
    )
  })

  it("have one counter per set of labels, however often it is asked for", () => {
    const metrics = new Registry()
    for (const name of ["a", "b", "a"]) metrics.counter("seen_total", "", { labels: { name } }).add()
    expect(linesOf(metrics)).toEqual(['seen_total{name="a"} 2', 'seen_total{name="b"} 1'])
  })

  it("have histograms with cumulative buckets, whose bounds are inclusive", () => {
    const metrics = new Registry()
    const sizes = metrics.histogram("size", "", [1, 5])
    for (const value of [0.5, 1, 2, 9]) sizes.observe(value)
    expect(linesOf(metrics)).toEqual([
      'size_bucket{le="1"} 2',
      'size_bucket{le="5"} 3',
      'size_bucket{le="+Inf"} 4',
      "size_sum 12.5",
      "size_count 4",
    ])
  })

  it("leave a gauge out while its value is not known", () => {
    const metrics = new Registry()
    let known: number | undefined
    metrics.gauge("age_seconds", "", () => known)
    metrics.gauge("endless", "", () => Number.POSITIVE_INFINITY)
    expect(toText(metrics.collect(true))).toBe("")
    known = 3
    expect(linesOf(metrics)).toEqual(["age_seconds 3"])
  })
})

describe("the metrics of several workers", () => {
  const makeWorker = (value: number) => {
    const metrics = new Registry()
    metrics.counter("sum_total", "").add(value)
    metrics.gauge("largest", "", () => value, { across: "max" })
    metrics.gauge("memory_bytes", "", () => value, { labels: { kind: "heap" }, across: "each" })
    metrics.gauge("rows", "", () => value, { across: "database" })
    metrics.histogram("size", "", [5]).observe(value)
    return metrics
  }

  it("are added, compared, listed by worker, or read by only one of them", () => {
    expect(linesOf(makeWorker(3), makeWorker(8))).toEqual([
      "sum_total 11",
      "largest 8",
      'memory_bytes{kind="heap",worker="1"} 3',
      'memory_bytes{kind="heap",worker="2"} 8',
      "rows 3",
      'size_bucket{le="5"} 1',
      'size_bucket{le="+Inf"} 2',
      "size_sum 11",
      "size_count 2",
    ])
  })

  it("keep the counters and histograms of a worker that has ended, without its gauges", () => {
    const ended = lasting(makeWorker(8).collect(true)).map(({ name }) => name)
    expect(ended).toEqual(["sum_total", "size"])
  })
})
