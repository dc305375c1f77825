import { Schema } from "effect"
import { DateTime, optional, text, Uuid } from "../wire-format.ts"

export const DisplayFeature = Schema.Struct({ code: Schema.String, id: Uuid }).annotate({
  identifier: "DisplayFeature",
})
export type DisplayFeature = typeof DisplayFeature.Type

/** A feature as administrators see it. */
export const Feature = Schema.Struct({
  code: Schema.String,
  id: Uuid,
  description: Schema.String,
  created_at: DateTime,
}).annotate({ identifier: "Feature" })
export type Feature = typeof Feature.Type

export const NewFeature = Schema.Struct({
  code: Schema.String.check(
    Schema.isPattern(/^[A-Za-z][\w.:-]{0,63}$/, {
      message: "expected a letter and up to 63 letters, digits or . : _ -",
    }),
  ),
  description: optional(text(500)),
}).annotate({ identifier: "NewFeature" })
