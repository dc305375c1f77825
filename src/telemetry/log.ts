import { Layer, Logger, References } from "effect"
import type { Config } from "../config/config.ts"

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

const jsonLines = Logger.map(Logger.formatJson, redact)

/**
 * Returns the level to use for work whose lines with the level Info are not worth printing, such as the security events
 * of demo data.
 */
export const withoutInfo = (level: Config["logLevel"]): Config["logLevel"] =>
  level === "Info" ? "Warn" : level

export const logging = (config: Pick<Config, "logLevel">) =>
  Layer.mergeAll(
    Logger.layer([Logger.withConsoleLog(jsonLines)]),
    Layer.succeed(References.MinimumLogLevel, config.logLevel),
  )
