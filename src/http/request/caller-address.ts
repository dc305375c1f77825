import type { HttpRequest, HttpResponse } from "uWebSockets.js"

/** Some proxies add the port the caller has, which is another one for each connection. */
const withoutPort = (entry: string): string =>
  /^\[(.*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([^:]*):\d+$/.exec(entry)?.[1] ?? entry

/**
 * The last entry is the one the trusted proxy added itself: at the end of the caller's own line or, as others do, in a line
 * below it, of which the library would find the first.
 */
const forwardedAddress = (req: HttpRequest): string => {
  let last = ""
  req.forEach((name, value) => {
    if (name === "x-forwarded-for") last = value
  })
  return withoutPort((last.split(",").at(-1) ?? "").trim())
}

/** Who calls, as text. Only while the native callback runs. */
export const callerAddress = (res: HttpResponse, req: HttpRequest, trustProxy: boolean): string => {
  const forwarded = trustProxy ? forwardedAddress(req) : ""
  return forwarded === "" ? Buffer.from(res.getRemoteAddressAsText()).toString() : forwarded
}

/** An IPv6 caller owns a whole /64: counting single addresses of it would count nothing. */
export const addressGroup = (address: string): string => {
  if (!address.includes(":")) return address
  const mapped = /^(?:0*:)*(?:0*ffff:)(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i.exec(
    address,
  )
  if (mapped?.[1] !== undefined) return mapped[1]
  if (mapped?.[2] !== undefined && mapped[3] !== undefined) {
    const [high, low] = [Number.parseInt(mapped[2], 16), Number.parseInt(mapped[3], 16)]
    return [high >> 8, high & 255, low >> 8, low & 255].join(".")
  }
  const [head = "", tail] = address.split("::")
  const groups = head === "" ? [] : head.split(":")
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === "" ? 0 : tail.split(":").length)
  const all = [...groups, ...Array<string>(Math.max(0, missing)).fill("0"), ...(tail ? tail.split(":") : [])]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`
}
