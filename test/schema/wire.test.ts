import { Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DateTimeIn } from "../../schema/wire.ts"

const read = Schema.decodeUnknownSync(DateTimeIn)

describe("a date-time a client sends, to a process that runs in Newfoundland", () => {
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
  ])("is in UTC when it names no zone: %s", (text) => {
    expect(read(text)).toBe("2026-11-16T10:00:00.000Z")
  })
  it.each(["2026-11-16", "11/16/2026", "11-16-2026", "Nov 16 2026"])(
    "begins its day in UTC when it is only a day: %s",
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
  ])("is in the zone it names: %s", (text) => {
    expect(read(text)).toBe("2026-11-16T10:00:00.000Z")
  })
  it.each(["", "soon", "Z", "UTC", "2026-13-01T00:00:00", "+012026-01-01T00:00:00Z"])(
    "that is none is refused: %j",
    (text) => {
      expect(() => read(text)).toThrow("expected a date-time")
    },
  )
  // Date takes these for a month of 2001, for 2045 and for 2001 again.
  it.each(["5", "45", "in 12"])("that names no year is refused: %j", (text) => {
    expect(() => read(text)).toThrow("expected a date-time")
  })
})
