import { Schema, SchemaTransformation } from "effect"

/** This file defines the formats of values in paths, query strings, request bodies and responses. */

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isUuid = (text: string): boolean => uuidPattern.test(text)

export const Uuid = Schema.String.check(
  Schema.isPattern(uuidPattern, { message: "expected a UUID" }),
).annotate({
  format: "uuid",
})

export const DateTime = Schema.String.annotate({ format: "date-time" })

const firstMs = Date.parse("0001-01-01T00:00:00Z")
const lastMs = Date.parse("9999-12-31T23:59:59.999Z")
const zone = /:\d\d.*(?:z|gmt|utc?|[ecmp][sd]t|[+-]\d\d(?::?\d\d)?)(?:\s*\([^)]*\))?$/i

/**
 * Returns the time as milliseconds since 1970, or NaN. A time without a zone is read as UTC, but `Date.parse` would use
 * the time zone of the machine.
 */
const instantOf = (text: string): number => {
  const ms = Date.parse(text)
  if (Number.isNaN(ms) || zone.test(text)) return ms
  const utc = Date.parse(`${text}Z`)
  return Number.isNaN(utc) ? Date.parse(`${text} UTC`) : utc
}
/**
 * Whether the day of a date exists. A check is needed because `Date.parse` accepts February 30 and returns a day in
 * March.
 */
const isOnCalendar = (text: string): boolean => {
  const [, year, month, day] = /^\s*(\d{4})-(\d\d?)-(\d\d?)(?!\d)/.exec(text) ?? []
  return day === undefined || Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
}
const isInstant = (text: string): boolean => {
  const ms = instantOf(text)
  // The text must have four digits in a row, as a full year has. Without a year, `Date.parse` guesses one: "45" becomes
  // the year 2045, and "5" becomes May 2001.
  return ms >= firstMs && ms <= lastMs && /\d{4}/.test(text) && isOnCalendar(text)
}

/**
 * A date-time in a request. Every format that `Date.parse` accepts is allowed. The value is converted to ISO 8601 in
 * UTC.
 */
export const DateTimeIn = Schema.String.check(
  Schema.makeFilter((text: string) => text.length <= 64 && isInstant(text), {
    message: "expected a date-time such as 2026-03-01T12:00:00Z",
    toJsonSchema: () => ({ format: "date-time" }),
  }),
).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({
      decode: (text) => new Date(instantOf(text)).toISOString(),
      encode: (text) => text,
    }),
  ),
)

export const Int = Schema.Int
export const Cents = Schema.Int

/** A member that may be missing or null. Clients in languages without `undefined` send null for a missing value. */
export const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** A whole number in a query string. */
export const IntText = (minimum: number, maximum: number) =>
  Schema.String.check(
    Schema.makeFilter(
      (text: string) => /^-?\d{1,15}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum,
      {
        message: `expected a whole number from ${minimum} to ${maximum}`,
        toJsonSchema: () => ({ minimum, maximum }),
      },
    ),
  )

/** A schema that accepts only the given strings. The error message lists them. */
export const words = <const A extends ReadonlyArray<string>>(identifier: string, values: A) =>
  Schema.Literals(values).annotate({ identifier, message: `expected one of ${values.join(", ")}` })

export const BooleanText = Schema.Literals(["true", "false"])

/**
 * A query parameter with comma-separated values. If the parameter is repeated, its values are joined with commas before
 * decoding.
 */
export const CommaList = Schema.String.check(Schema.isMaxLength(4096))

export const Json = Schema.Unknown

const utf8 = new TextEncoder()
const jsonBytes = (value: unknown): number => utf8.encode(JSON.stringify(value) ?? "").length

/** Any JSON value whose text has at most this many bytes in UTF-8. */
export const jsonUpTo = (maximumBytes: number) =>
  Schema.Unknown.check(
    Schema.makeFilter((value: unknown) => jsonBytes(value) <= maximumBytes, {
      message: `expected at most ${maximumBytes} bytes of JSON`,
    }),
  )

export const text = (maximumCodePoints: number) =>
  Schema.String.check(Schema.isMaxCodePoints(maximumCodePoints))
