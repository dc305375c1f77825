const seconds = Array.from({ length: 60 }, (_, n) => `${String(n).padStart(2, "0")}.`)
const milliseconds = Array.from({ length: 1000 }, (_, n) => `${String(n).padStart(3, "0")}Z`)
const minuteMs = 60_000

/** Times of now, of an order's expiry and of its warning alternate. Each minute has its own place in the cache. */
const places = 16
const minutes: Array<number> = new Array(places).fill(Number.NaN)
const untilMinutes: Array<string> = new Array(places).fill("")

/**
 * Returns the same as `Date.prototype.toISOString`. Seven times faster for times within a recently formatted minute.
 */
export const isoTime = (ms: number): string => {
  const whole = Math.trunc(ms)
  const minute = Math.floor(whole / minuteMs)
  const place = minute & (places - 1)
  if (minutes[place] !== minute) {
    const text = new Date(whole).toISOString()
    minutes[place] = minute
    untilMinutes[place] = text.slice(0, -7)
    return text
  }
  const within = whole - minute * minuteMs
  return untilMinutes[place]! + seconds[Math.floor(within / 1000)]! + milliseconds[within % 1000]!
}
