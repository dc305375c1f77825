import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { OtlpExporter, OtlpSerialization, OtlpTracer } from "effect/observability"

/** A receiver that does not answer within this time counts as down. After four attempts, spans are dropped for a minute. */
const answerWithinMs = 3000
/** A stop waits at most this long for the last spans. */
const shutdownTimeout = "2 seconds"

const fetchWithLimit: typeof fetch = (input, init) => {
  const limit = AbortSignal.timeout(answerWithinMs)
  return fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, limit]) : limit })
}

/** A tracer that sends ended spans with OTLP over HTTP, in batches, in the background. */
export const otlpTracer = (endpoint: string, serviceName: string): Layer.Layer<never> =>
  OtlpTracer.layer({
    url: `${endpoint}/v1/traces`,
    resource: { serviceName },
    exportInterval: "1 second",
    maxBatchSize: 512,
    shutdownTimeout,
  }).pipe(
    Layer.provide([
      FetchHttpClient.layer,
      Layer.succeed(FetchHttpClient.Fetch, fetchWithLimit),
      OtlpSerialization.layerJson,
      OtlpExporter.layerFlusher,
    ]),
  )
