import type { Across, Family, Values } from "./registry.ts"

/** The metrics of one worker. */
export interface WorkerFamilies {
  /** The number of the worker, which its replacement keeps. */
  readonly worker: string
  readonly families: ReadonlyArray<Family>
}

const add = (left: Values, right: Values): Values => left.map((value, i) => value + (right[i] ?? 0))
const larger = (left: Values, right: Values): Values =>
  left.map((value, i) => Math.max(value, right[i] ?? value))

const withWorker = (labels: string, worker: string): string =>
  labels === "" ? `worker="${worker}"` : `${labels},worker="${worker}"`

const join: Record<Across, (left: Values, right: Values) => Values> = {
  sum: add,
  max: larger,
  each: (_, right) => right,
  database: (_, right) => right,
}

/** Makes one list of metrics from those of several workers. */
export const mergeWorkers = (workers: Iterable<WorkerFamilies>): ReadonlyArray<Family> => {
  const merged = new Map<string, Family & { readonly series: Record<string, Values> }>()
  for (const { families, worker } of workers) {
    for (const family of families) {
      const { across } = family
      const known = merged.get(family.name) ?? { ...family, series: {} }
      merged.set(family.name, known)
      for (const [labels, values] of Object.entries(family.series)) {
        const key = across === "each" ? withWorker(labels, worker) : labels
        const before = known.series[key]
        known.series[key] = before === undefined ? values : join[across](before, values)
      }
    }
  }
  return [...merged.values()]
}

/**
 * The metrics that must not become smaller when their worker ends: counters and histograms that are summed. Prometheus
 * recognizes the reset of a counter, but not that one part of a sum was reset.
 */
export const lasting = (families: ReadonlyArray<Family>): ReadonlyArray<Family> =>
  families.filter(({ across, type }) => across === "sum" && type !== "gauge")
