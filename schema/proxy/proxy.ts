import { Schema } from "effect"
import { optional, text } from "../wire-format.ts"

/** The services that the proxy can call. A client sends the name of a service, never a URL. */
export const ProxyService = Schema.Literals(["Echo", "Scraper"])

export const ProxyCallParameters = Schema.Struct({
  service: ProxyService,
  data: optional(text(16_384)),
}).annotate({ identifier: "ProxyCallParameters" })

/**
 * The response of the service. `value` is its text. `json` is the parsed text if it is a JSON object that is not nested
 * too deeply, otherwise an empty object.
 */
export const ProxyResult = Schema.Struct({
  json: Schema.Record(Schema.String, Schema.Unknown),
  value: Schema.String,
}).annotate({ identifier: "ProxyResult" })
export type ProxyResult = typeof ProxyResult.Type
