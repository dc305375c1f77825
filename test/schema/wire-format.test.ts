import { Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DateTimeIn } from "../../schema/wire-format.ts"

const read = Schema.decodeUnknownSync(DateTimeIn)

describe("a date-time in a request, with the process in the time zone of Newfoundland", () => {
  const { TZ } = process.env
  beforeAll(() => {
    process.env["TZ"] = "America/St_Johns"
  })
  afterAll(() => {
    if (TZ === undefined) delete process.env["TZ"]
    else process.env["TZ"] = TZ
  })

  it.each([
    "2026-11-16T10:00:00",
    "2026-11-16T10:00",
    "2026-11-16 10:00:00",
    "2026-11-16 10:00:00.000",
    "Nov 16 2026 10:00 AM",
    "Mon, 16 Nov 2026 10:00:00",
  ])("is in UTC if it has no zone: %s", (text) => {
    expect(read(text)).toBe("2026-11-16T10:00:00.000Z")
  })
  it.each(["2026-11-16", "11/16/2026", "11-16-2026", "Nov 16 2026"])(
    "is the start of the day in UTC if it has no time: %s",
    (text) => {
      expect(read(text)).toBe("2026-11-16T00:00:00.000Z")
    },
  )
  it.each([
    "2026-11-16T10:00:00Z",
    "2026-11-16t10:00:00z",
    "2026-11-16T12:00:00+02:00",
    "2026-11-16T06:30:00-03:30",
    "2026-11-16 12:00:00+02",
    "2026-11-16 12:00:00 +0200",
    "Mon, 16 Nov 2026 10:00:00 GMT",
    "Mon Nov 16 2026 12:00:00 GMT+0200 (EET)",
    "Nov 16 2026 05:00 EST",
  ])("is in its zone: %s", (text) => {
    expect(read(text)).toBe("2026-11-16T10:00:00.000Z")
  })
  it.each(["", "soon", "Z", "UTC", "2026-13-01T00:00:00", "+012026-01-01T00:00:00Z"])(
    "that is malformed is rejected: %j",
    (text) => {
      expect(() => read(text)).toThrow("expected a date-time")
    },
  )
  it.each([
    "2026-02-30",
    "2026-02-29T12:00:00Z",
    "2100-02-29 00:00",
    "2026-4-31 10:00",
    "2026-11-31T00:00:00+02:00",
  ])("on a day that does not exist is rejected: %s", (text) => {
    expect(() => read(text)).toThrow("expected a date-time")
  })
  it.each([
    ["2028-02-29", "2028-02-29T00:00:00.000Z"],
    ["2000-02-29T23:00:00-02:00", "2000-03-01T01:00:00.000Z"],
    ["2026-12-31T23:59:59.999Z", "2026-12-31T23:59:59.999Z"],
  ])("on the last day of a month is accepted: %s", (text, instant) => {
    expect(read(text)).toBe(instant)
  })
  // Date.parse returns a month of 2001, the year 2045, and 2001 again.
  it.each(["5", "45", "in 12"])("without a year is rejected: %j", (text) => {
    expect(() => read(text)).toThrow("expected a date-time")
  })
})
