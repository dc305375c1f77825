import { Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DateTimeIn } from "../../schema/wire-format.ts"

const read = Schema.decodeUnknownSync(DateTimeIn)

describe("a date-time in a request, while the process has the time zone of Newfoundland,", () => {
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
  ])("is read as UTC if it has no time zone: %s", (text) => {
    expect(read(text)).toBe("2026-11-16T10:00:00.000Z")
  })
  it.each(["2026-11-16", "11/16/2026", "11-16-2026", "Nov 16 2026"])(
    "is read as the start of the day in UTC if it has no time: %s",
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
  ])("is read in the time zone that it contains: %s", (text) => {
    expect(read(text)).toBe("2026-11-16T10:00:00.000Z")
  })
  it.each(["", "soon", "Z", "UTC", "2026-13-01T00:00:00", "+012026-01-01T00:00:00Z"])(
    "is rejected if it is malformed: %j",
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
  ])("is rejected if its day does not exist: %s", (text) => {
    expect(() => read(text)).toThrow("expected a date-time")
  })
  it.each([
    ["2028-02-29", "2028-02-29T00:00:00.000Z"],
    ["2000-02-29T23:00:00-02:00", "2000-03-01T01:00:00.000Z"],
    ["2026-12-31T23:59:59.999Z", "2026-12-31T23:59:59.999Z"],
  ])("is accepted if it is on the last day of a month: %s", (text, instant) => {
    expect(read(text)).toBe(instant)
  })
  // `Date.parse` would accept these texts: it returns a month of 2001 for the first, the year 2045 for the second, and
  // 2001 for the third.
  it.each(["5", "45", "in 12"])("is rejected if it has no year: %j", (text) => {
    expect(() => read(text)).toThrow("expected a date-time")
  })
})
