import { Schema } from "effect"
import { optional, text } from "../wire-format.ts"

/** The services that can be called through us. A client names one; it never gives an address. */
export const ProxyService = Schema.Literals(["Echo", "Scraper"])

export const ProxyCallParameters = Schema.Struct({
  service: ProxyService,
  data: optional(text(16_384)),
}).annotate({ identifier: "ProxyCallParameters" })

/** What the service answered, as text and, where it is a JSON object, as that. */
export const ProxyResult = Schema.Struct({
  json: Schema.Record(Schema.String, Schema.Unknown),
  value: Schema.String,
}).annotate({ identifier: "ProxyResult" })
export type ProxyResult = typeof ProxyResult.Type
