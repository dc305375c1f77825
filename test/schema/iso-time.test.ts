import { array, assert, integer, property } from "fast-check"
import { expect, it } from "vitest"
import { isoTime } from "../../schema/iso-time.ts"

const sameAsDate = (ms: number) => isoTime(ms) === new Date(ms).toISOString()

it("isoTime formats a time like Date.toISOString, regardless of previously formatted times", () => {
  const moment = integer({ min: -8.64e15, max: 8.64e15 })
  const near = array(integer({ min: -3_000_000, max: 3_000_000 }), { minLength: 1 })
  assert(property(moment, near, (ms, steps) => [...steps, 0].every((step) => sameAsDate(clip(ms + step)))))
})

it("isoTime drops fractions of a millisecond like Date.toISOString, also for times before 1970", () => {
  for (const ms of [-60_000.5, -0.5, -0.5, 0.5, 59_999.9, 59_999.9])
    expect(sameAsDate(ms), String(ms)).toBe(true)
})

it("isoTime rejects an invalid time", () => {
  expect(() => isoTime(Number.NaN)).toThrow(RangeError)
  expect(() => isoTime(Number.NaN)).toThrow(RangeError)
  expect(() => isoTime(8.65e15)).toThrow(RangeError)
})

const clip = (ms: number) => Math.max(-8.64e15, Math.min(8.64e15, ms))
