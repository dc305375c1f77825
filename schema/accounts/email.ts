import { Schema, SchemaTransformation } from "effect"
import { isEmail } from "./credential-rules.ts"

/** An address as people type it; two spellings that differ in case or outer space are one address. */
export const Email = Schema.String.pipe(
  Schema.decodeTo(
    Schema.String.check(Schema.makeFilter(isEmail, { message: "expected an email address" })),
    SchemaTransformation.transform({ decode: (text) => text.trim().toLowerCase(), encode: (text) => text }),
  ),
).annotate({ format: "email" })
