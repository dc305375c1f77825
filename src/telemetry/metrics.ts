import { Context, Effect, Fiber, Layer, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import type { Endpoint } from "../http/endpoint.ts"
import type { Observer } from "../http/exchange.ts"

const bucketsMs = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 5000]
const empty = Context.empty()

type Attributes = Readonly<Record<string, string>>

// There is one metric object per set of attributes. A shared object would resolve the attributes at every update.
const requests = (attributes: Attributes) =>
  Metric.counter("http_requests_total", { description: "Completed requests", incremental: true, attributes })
const duration = (attributes: Attributes) =>
  Metric.histogram("http_request_duration_ms", {
    description: "Time from the request head to the response",
    boundaries: bucketsMs,
    attributes,
  })

interface RouteMetrics {
  readonly prepared: Metric.Metric<number, unknown>
  readonly duration: Metric.Metric<number, unknown>
  readonly byStatus: Map<number, Metric.Metric<number, unknown>>
  readonly attributes: Attributes
  /**
   * The number of precomputed responses since the last scrape. The metric is updated only at a scrape, because an
   * update takes longer than such a response.
   */
  preparedCount: number
}

/**
 * A scrape waits at most this long for the work registered with `before`, so that metrics are available even if the
 * database does not respond.
 */
const preparationLimit = "2 seconds"

/**
 * Returns an effect that waits for the given effect, up to the limit. The given effect runs detached, so it continues
 * after the limit. Concurrent scrapes wait for the same run.
 */
const preparation = (effect: Effect.Effect<void>): Effect.Effect<void> => {
  let running: Fiber.Fiber<void> | undefined
  const finished = Effect.sync(() => {
    running = undefined
  })
  return Effect.gen(function* () {
    running ??= yield* Effect.forkDetach(Effect.ensuring(effect, finished))
    yield* Effect.timeoutOption(Fiber.await(running), preparationLimit)
  })
}

/** Returns the current value of a gauge. */
export type Reading = () => number

export class Metrics extends Context.Service<
  Metrics,
  {
    readonly observer: Observer
    /** Registers a gauge that is read at each scrape. */
    gauge(name: string, description: string, read: Reading, attributes?: Attributes): void
    /** Registers work that runs before each scrape, such as a query that updates a gauge. */
    before(effect: Effect.Effect<void>): void
    readonly text: Effect.Effect<string>
  }
>()("directory/Metrics") {
  static readonly layer = Layer.sync(Metrics, () => {
    const routes = new Map<Endpoint | undefined, RouteMetrics>()
    const readings: Array<() => void> = []
    const preparations: Array<Effect.Effect<void>> = []

    const of = (endpoint: Endpoint | undefined): RouteMetrics => {
      const known = routes.get(endpoint)
      if (known !== undefined) return known
      const attributes = {
        method: endpoint?.method.toUpperCase().replace("DEL", "DELETE") ?? "ANY",
        route: endpoint?.path ?? "unknown",
      }
      const made: RouteMetrics = {
        prepared: requests({ ...attributes, status: "prepared" }),
        duration: duration(attributes),
        byStatus: new Map(),
        attributes,
        preparedCount: 0,
      }
      routes.set(endpoint, made)
      return made
    }

    const observer: Observer = {
      prepared: (endpoint) => {
        const metrics = of(endpoint)
        return () => {
          metrics.preparedCount++
        }
      },
      answered: (endpoint, status, milliseconds) => {
        const metrics = of(endpoint)
        let counter = metrics.byStatus.get(status)
        if (counter === undefined) {
          counter = requests({ ...metrics.attributes, status: String(status) })
          metrics.byStatus.set(status, counter)
        }
        counter.updateUnsafe(1, empty)
        metrics.duration.updateUnsafe(milliseconds, empty)
      },
    }

    const gauge = (name: string, description: string, read: Reading, attributes: Attributes = {}) => {
      const metric = Metric.gauge(name, { description, attributes })
      readings.push(() => metric.updateUnsafe(read(), empty))
    }
    gauge("process_resident_memory_bytes", "Memory of this process", () => process.memoryUsage.rss())
    gauge("process_cpu_seconds_total", "CPU time of this process", () => {
      const { system, user } = process.cpuUsage()
      return (system + user) / 1e6
    })

    const text = Effect.gen(function* () {
      yield* Effect.all(preparations, { concurrency: "unbounded", discard: true })
      for (const read of readings) read()
      for (const metrics of routes.values()) {
        if (metrics.preparedCount === 0) continue
        metrics.prepared.updateUnsafe(metrics.preparedCount, empty)
        metrics.preparedCount = 0
      }
      return yield* PrometheusMetrics.format()
    })

    return Metrics.of({
      observer,
      gauge,
      before: (effect) => void preparations.push(preparation(effect)),
      text,
    })
  })
}
