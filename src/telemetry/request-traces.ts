import { Context, Effect, Layer, Redacted, Tracer } from "effect"
import type { Config } from "../config/read-config.ts"

/** The trace of a request: a new one, or the one that its `traceparent` belongs to. */
export interface RequestTrace {
  readonly parent: Tracer.ExternalSpan | undefined
}

export interface RequestTraces {
  /** Returns the trace of a request with this `traceparent`, or undefined if the request is not traced. */
  start(traceparent: string): RequestTrace | undefined
}

/** Undefined without OTEL_EXPORTER_OTLP_ENDPOINT: then no request is traced, and the header is not read. */
export const RequestTraces = Context.Reference<RequestTraces | undefined>("directory/RequestTraces", {
  defaultValue: () => undefined,
})

/** Version 00 of https://www.w3.org/TR/trace-context/. Later versions may append fields. */
const form = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/

/** Returns undefined for a header that is missing or damaged. */
export const parseTraceparent = (header: string): Tracer.ExternalSpan | undefined => {
  const [, traceId, spanId, flags = ""] = form.exec(header) ?? []
  if (traceId === undefined || spanId === undefined) return undefined
  if (header.startsWith("00-") && header.length !== 55) return undefined
  return Tracer.externalSpan({ traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 })
}

/** The headers of a request to another service: `traceparent`, if the current request is traced. */
export const traceHeaders: Effect.Effect<Readonly<Record<string, string>>> = Effect.withFiber((fiber) => {
  const { span } = fiber.cache
  return Effect.succeed(
    span === undefined
      ? {}
      : { traceparent: `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}` },
  )
})

/**
 * At most so many requests are traced per second, because any client can ask for it with `traceparent`. The limit also
 * bounds the memory of spans that wait for a slow receiver.
 */
const maxPerSecond = 100

export const makeRequestTraces = (ratio: number, now = () => performance.now()): RequestTraces => {
  let second = Number.NEGATIVE_INFINITY
  let traced = 0
  const isWithinLimit = (): boolean => {
    if (now() - second >= 1000) {
      second = now()
      traced = 0
    }
    return traced++ < maxPerSecond
  }
  return {
    start: (traceparent) => {
      const parent = traceparent === "" ? undefined : parseTraceparent(traceparent)
      const isWanted = parent === undefined ? Math.random() < ratio : parent.sampled
      return isWanted && isWithinLimit() ? { parent } : undefined
    },
  }
}

/** Sends the spans of traced requests to the configured receiver. The exporter is loaded only if there is one. */
export const tracing = ({
  otlpEndpoint,
  otlpServiceName,
  traceRatio,
}: Pick<Config, "otlpEndpoint" | "otlpServiceName" | "traceRatio">): Layer.Layer<never> =>
  otlpEndpoint === undefined
    ? Layer.empty
    : Layer.merge(
        Layer.sync(RequestTraces, () => makeRequestTraces(traceRatio)),
        Layer.unwrap(
          Effect.promise(async () =>
            (await import("./otlp.ts")).otlpTracer(Redacted.value(otlpEndpoint), otlpServiceName),
          ),
        ),
      )
