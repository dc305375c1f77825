import { Schema, SchemaTransformation } from "effect"
import { isEmail, normalizeEmail } from "./credential-rules.ts"

/** An email address. It is decoded to the form in which it is stored. */
export const Email = Schema.String.pipe(
  Schema.decodeTo(
    Schema.String.check(Schema.makeFilter(isEmail, { message: "expected an email address" })),
    SchemaTransformation.transform({ decode: normalizeEmail, encode: (text) => text }),
  ),
).annotate({ format: "email" })
