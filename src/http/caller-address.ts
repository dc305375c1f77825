import type { HttpRequest, HttpResponse } from "uWebSockets.js"
import { headerKey } from "./header-key.ts"

const forwardedFor = headerKey("x-forwarded-for")

/** Who calls, as text. Only while the native callback runs. */
export const callerAddress = (res: HttpResponse, req: HttpRequest, trustProxy: boolean): string => {
  const forwarded = trustProxy ? req.getHeader(forwardedFor) : ""
  // The last entry is the one the trusted proxy added itself.
  return forwarded === ""
    ? Buffer.from(res.getRemoteAddressAsText()).toString()
    : (forwarded.split(",").at(-1) ?? "").trim()
}
