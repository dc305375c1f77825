import { Context, Effect, Layer } from "effect"
import { Unavailable } from "../../schema/errors.ts"
import type { ProxyResult } from "../../schema/proxy/proxy.ts"
import { AppConfig } from "../config/read-config.ts"
import { isTooDeep } from "../http/request/decode.ts"
import { traceHeaders } from "../telemetry/request-traces.ts"

const deadlineMs = 5000
const maxAnswerBytes = 256 * 1024

const asResult = (value: string): ProxyResult => {
  // `JSON.parse` accepts any depth, but `JSON.stringify` would fail when the response is sent. JSON that is too deep is
  // therefore returned only as text.
  if (isTooDeep(value)) return { json: {}, value }
  try {
    const json: unknown = JSON.parse(value)
    const isObject = typeof json === "object" && json !== null && !Array.isArray(json)
    return { json: isObject ? (json as Record<string, unknown>) : {}, value }
  } catch {
    return { json: {}, value }
  }
}

const tryLater = (error: string) => new Unavailable({ error, retryAfterSeconds: 5 })
const failed = (error: string) => new Unavailable({ error, retryAfterSeconds: "never" })
/** Whether a service that responded with this status may respond otherwise later. */
const isTemporary = (status: number): boolean => status >= 500 || status === 429 || status === 408

const readCapped = async (response: Response): Promise<string> => {
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > maxAnswerBytes) throw failed(`The response of the service exceeds ${maxAnswerBytes} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

/**
 * Sends the client's data to a URL that the operator has configured, and returns the response as text. The client's
 * headers are not forwarded, except the trace.
 */
const post = Effect.fnUntraced(function* (url: string, data: string) {
  const traced = yield* traceHeaders
  return yield* Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/plain", ...traced },
        body: JSON.stringify({ data }),
        redirect: "error",
        signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
      })
      if (!response.ok) {
        await response.body?.cancel()
        const error = `The service responded with status ${response.status}.`
        throw isTemporary(response.status) ? tryLater(error) : failed(error)
      }
      return await readCapped(response)
    },
    catch: (error) =>
      error instanceof Unavailable ? error : tryLater("The service cannot be reached. Retry later."),
  })
})

/** The services that the proxy can call. */
export class Proxied extends Context.Service<
  Proxied,
  { readonly [service in "Echo" | "Scraper"]: (data: string) => Effect.Effect<ProxyResult, Unavailable> }
>()("directory/Proxied") {
  static readonly layer = Layer.effect(
    Proxied,
    Effect.gen(function* () {
      const { scraperUrl } = yield* AppConfig
      return Proxied.of({
        Echo: (data) => Effect.succeed(asResult(data)),
        Scraper: (data) =>
          scraperUrl === undefined
            ? Effect.fail(failed("The scraper is not configured: SCRAPER_URL is not set."))
            : Effect.map(post(scraperUrl, data), asResult),
      })
    }),
  )
}
