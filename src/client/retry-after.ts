/** Returns the delay of a `Retry-After` header in milliseconds. A proxy may send a date instead of seconds. */
export const retryAfterMs = (headers: Headers): number | undefined => {
  const text = headers.get("retry-after") ?? ""
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(waitMs) ? undefined : Math.max(waitMs, 0)
}
