import { Schema } from "effect"

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

/** The common part of routes that receive a submitted form and return a page. */
export const formRow = {
  ...pageRow,
  method: "post",
  rawBody: true,
  bodyLimitBytes: 32 * 1024,
} as const
