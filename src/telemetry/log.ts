import { type Fiber, Formatter, Layer, Logger, References } from "effect"
import type { Config } from "../config/read-config.ts"

const secretMember =
  /"([\w-]*(?:password|secret|token|authorization|api_?key|code|cookie|pubkey_private)[\w-]*)":"(?:[^"\\]|\\.)*"/gi
const jwt = /eyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g
const apiKey = /svc_[\w-]{6,}_[\w-]{8,}/g
const passwordInUrl = /:\/\/([^\s:@/]*):[^\s@/]+@/g

/** Returns a log line in which passwords, tokens, keys and codes are replaced. */
export const redact = (line: string): string =>
  line
    .replace(secretMember, '"$1":"<redacted>"')
    .replace(jwt, "<token>")
    .replace(apiKey, "<api key>")
    .replace(passwordInUrl, "://$1:<redacted>@")

/** Finds the request that a fiber works for. */
type RequestIdOf = (fiber: Fiber.Fiber<unknown, unknown>) => string | undefined

/** Log lines as JSON, with the ids of the request and the trace of their fiber. */
const jsonLines = (requestIdOf: RequestIdOf) =>
  Logger.make((options) => {
    const requestId = requestIdOf(options.fiber)
    const span = options.fiber.cache.span
    const line = {
      ...Logger.formatStructured.log(options),
      ...(requestId === undefined ? {} : { request_id: requestId }),
      ...(span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId }),
    }
    return redact(Formatter.formatJson(line))
  })

/**
 * Returns the level to use for work whose lines with the level Info are not worth printing, such as the security events
 * of demo data.
 */
export const withoutInfo = (level: Config["logLevel"]): Config["logLevel"] =>
  level === "Info" ? "Warn" : level

export const logging = (config: Pick<Config, "logLevel">, requestIdOf: RequestIdOf = () => undefined) =>
  Layer.mergeAll(
    Logger.layer([Logger.withConsoleLog(jsonLines(requestIdOf))]),
    Layer.succeed(References.MinimumLogLevel, config.logLevel),
  )
