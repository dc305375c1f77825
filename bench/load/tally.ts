import { build, encodeIntoCompressedBase64, type Histogram } from "hdr-histogram-js"
import type { Latency } from "./run.ts"

const highestMicros = 120_000_000
export const curvePercentiles = [0, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 100] as const

/**
 * Counts the operations and errors of the measured window, and their latencies. Operations that timed out or were
 * never sent are included in the latencies with their waiting time. Other failed operations are not included.
 */
export class Tally {
  completed = 0
  readonly errors: Record<string, number> = {}
  readonly #histogram: Histogram = newHistogram()
  /**
   * One counter for each latency from 0 to 65,535 microseconds. In the load loop, increasing a counter is cheaper
   * than recording a value in the histogram.
   */
  readonly #counts = new Uint32Array(65_536)

  settle(latencyMs: number, error: string | undefined): void {
    if (error === undefined) this.completed++
    else {
      this.errors[error] = (this.errors[error] ?? 0) + 1
      if (error !== "timeout" && error !== "unsent") return
    }
    const micros = Math.round(latencyMs * 1000)
    if (micros >= 0 && micros < this.#counts.length) this.#counts[micros]! += 1
    else record(this.#histogram, latencyMs)
  }

  latency(): Latency {
    this.#counts.forEach((count, micros) => {
      if (count > 0) this.#histogram.recordValueWithCount(micros, count)
    })
    this.#counts.fill(0)
    return latencyOf(this.#histogram)
  }
}

export const newHistogram = (): Histogram =>
  build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: highestMicros,
    numberOfSignificantValueDigits: 3,
  })

export function record(histogram: Histogram, milliseconds: number): void {
  histogram.recordValue(Math.min(highestMicros, Math.max(0, Math.round(milliseconds * 1000))))
}

export function latencyOf(histogram: Histogram): Latency {
  const at = (percentile: number) => histogram.getValueAtPercentile(percentile) / 1000
  return {
    meanMs: histogram.totalCount === 0 ? 0 : histogram.mean / 1000,
    p50Ms: at(50),
    p90Ms: at(90),
    p99Ms: at(99),
    p999Ms: at(99.9),
    p9999Ms: at(99.99),
    maxMs: histogram.maxValue / 1000,
    curve: curvePercentiles.map((percentile) => [percentile, at(percentile)] as const),
    histogram: encodeIntoCompressedBase64(histogram),
  }
}
