import { Schema } from "effect"
import { deviceHeader } from "../http/request/device.ts"

/**
 * The common part of routes that return pages. Their errors are pages too, and scripts of other origins cannot read
 * their responses.
 */
export const pageRow = {
  group: "pages",
  auth: "none",
  success: Schema.Unknown,
  produces: "text/html",
  errorBody: "page",
  sameOrigin: true,
  headers: ["cookie", "sec-fetch-site"],
} as const

/** The common part of routes that receive a submitted form and return a page. A form may open a session. */
export const formRow = {
  ...pageRow,
  headers: [...pageRow.headers, deviceHeader],
  needsAddress: true,
  method: "post",
  rawBody: true,
  bodyLimitBytes: 32 * 1024,
} as const
