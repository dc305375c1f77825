import { Schema, SchemaTransformation } from "effect"
import { isEmail } from "./credential-rules.ts"

/**
 * An email address. Letter case and surrounding spaces do not matter: the text is decoded to lower case, without the
 * spaces.
 */
export const Email = Schema.String.pipe(
  Schema.decodeTo(
    Schema.String.check(Schema.makeFilter(isEmail, { message: "expected an email address" })),
    SchemaTransformation.transform({ decode: (text) => text.trim().toLowerCase(), encode: (text) => text }),
  ),
).annotate({ format: "email" })
