import type { HttpRequest, HttpResponse } from "uWebSockets.js"
import { headerKey } from "./header-key.ts"

/** Returns the address without the caller's port. Some proxies add the port, which differs for each connection. */
const withoutPort = (entry: string): string =>
  /^\[(.*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([^:]*):\d+$/.exec(entry)?.[1] ?? entry

/**
 * Returns the last entry of X-Forwarded-For, which the trusted proxy added itself, or an empty string if there is
 * none. Some proxies append the entry to the caller's header line, others add a second line. `getHeader` returns only
 * the first line, so all headers are read.
 */
const forwardedAddress = (req: HttpRequest): string => {
  let last = ""
  req.forEach((name, value) => {
    if (name === "x-forwarded-for") last = value
  })
  return withoutPort((last.split(",").at(-1) ?? "").trim())
}

/** Finds the address of a caller. */
export type CallerAddress = (res: HttpResponse, req: HttpRequest) => string

const forwardedFor = headerKey("x-forwarded-for")

/**
 * Makes the function that returns the caller's address as text. It must be called during the native callback, because
 * the request is not valid afterwards. If the proxy is not trusted, `onForwarded` is called for the first request that
 * came through one.
 */
export const makeCallerAddress = (trustProxy: boolean, onForwarded?: () => void): CallerAddress => {
  const peerOf = (res: HttpResponse) => Buffer.from(res.getRemoteAddressAsText()).toString()
  if (trustProxy) {
    return (res, req) => {
      const forwarded = forwardedAddress(req)
      return forwarded === "" ? peerOf(res) : forwarded
    }
  }
  let isReported = onForwarded === undefined
  return (res, req) => {
    if (!isReported && req.getHeader(forwardedFor) !== "") {
      isReported = true
      onForwarded?.()
    }
    return peerOf(res)
  }
}

/**
 * Returns the key under which the requests of an address are counted. For IPv6 it is the /64 network, because a
 * caller usually controls a whole /64 and can change its address freely.
 */
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
