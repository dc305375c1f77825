import { type Counter, durationBounds, type Histogram, type Registry } from "../telemetry/registry.ts"
import type { Endpoint } from "./endpoint.ts"
import type { Observer } from "./exchange.ts"

interface RouteMetrics {
  readonly answered: (status: number) => Counter
  readonly duration: Histogram
}

const requestsHelp = "Answered requests. cached: the response was ready before the request, so no handler ran"

/** Counts the requests of a server. Servers that share a registry share the counters of a route. */
export const observeRequests = (metrics: Registry): Observer => {
  const routes = new Map<Endpoint | undefined, RouteMetrics>()
  const aborted = metrics.counter(
    "http_requests_aborted_total",
    "Requests whose client disconnected before the response",
  )

  const labelsOf = (endpoint: Endpoint | undefined) => ({
    method: endpoint?.method.toUpperCase().replace("DEL", "DELETE") ?? "ANY",
    route: endpoint?.path ?? "unknown",
    kind: endpoint?.work ?? "other",
  })
  const counterOf = (endpoint: Endpoint | undefined, status: number, cached: boolean) =>
    metrics.counter("http_requests_total", requestsHelp, {
      labels: { ...labelsOf(endpoint), status: String(status), cached: String(cached) },
    })

  const of = (endpoint: Endpoint | undefined): RouteMetrics => {
    const known = routes.get(endpoint)
    if (known !== undefined) return known
    const byStatus = new Map<number, Counter>()
    const made: RouteMetrics = {
      answered: (status) => {
        const counter = byStatus.get(status) ?? counterOf(endpoint, status, false)
        byStatus.set(status, counter)
        return counter
      },
      duration: metrics.histogram(
        "http_request_duration_seconds",
        "Time from the request head to the response, of requests whose handler ran",
        durationBounds,
        { labels: labelsOf(endpoint) },
      ),
    }
    routes.set(endpoint, made)
    return made
  }

  return {
    prepared: (endpoint) => {
      // Indexed by status. A counter with labels would take longer than a precomputed response.
      const counts: Array<number> = Array.from({ length: 600 }, () => 0)
      metrics.onCollect(() => {
        for (const [status, count] of counts.entries()) {
          if (count === 0) continue
          counterOf(endpoint, status, true).add(count)
          counts[status] = 0
        }
      })
      return (status) => {
        counts[status]!++
      }
    },
    answered: (endpoint, status, milliseconds) => {
      const route = of(endpoint)
      route.answered(status).add()
      route.duration.observe(milliseconds / 1000)
    },
    aborted: () => aborted.add(),
  }
}
