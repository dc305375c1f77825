const seconds = Array.from({ length: 60 }, (_, n) => `${String(n).padStart(2, "0")}.`)
const milliseconds = Array.from({ length: 1000 }, (_, n) => `${String(n).padStart(3, "0")}Z`)
const minuteMs = 60_000

/** Moments of now, of an order's end and of the warning before it take turns; each finds its minute at its own place. */
const places = 16
const minutes: Array<number> = new Array(places).fill(Number.NaN)
const untilMinutes: Array<string> = new Array(places).fill("")

/** As `Date.prototype.toISOString`, in a seventh of its time for moments of a minute just named. */
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
