import { Schema, SchemaTransformation } from "effect"

const maxEmailLength = 254

/** An address as people type it; two spellings that differ in case or outer space are one address. */
export const Email = Schema.String.pipe(
  Schema.decodeTo(
    Schema.String.check(
      Schema.makeFilter(
        (text: string) => text.length <= maxEmailLength && /^[^\s@,;<>"]+@[^\s@,;<>"]+$/.test(text),
        { message: "expected an email address" },
      ),
    ),
    SchemaTransformation.transform({ decode: (text) => text.trim().toLowerCase(), encode: (text) => text }),
  ),
).annotate({ format: "email" })
