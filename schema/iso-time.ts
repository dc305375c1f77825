const seconds = Array.from({ length: 60 }, (_, n) => `${String(n).padStart(2, "0")}.`)
const milliseconds = Array.from({ length: 1000 }, (_, n) => `${String(n).padStart(3, "0")}Z`)
const minuteMs = 60_000

let minute = Number.NaN
let untilMinute = ""

/** As `Date.prototype.toISOString`, in a seventh of its time for moments of one minute: every turn names some of now. */
export const isoTime = (ms: number): string => {
  const whole = Math.trunc(ms)
  const itsMinute = Math.floor(whole / minuteMs)
  if (itsMinute !== minute) {
    const text = new Date(whole).toISOString()
    minute = itsMinute
    untilMinute = text.slice(0, -7)
    return text
  }
  const within = whole - itsMinute * minuteMs
  return untilMinute + seconds[Math.floor(within / 1000)]! + milliseconds[within % 1000]!
}
