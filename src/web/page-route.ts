import { Schema } from "effect"

/** What every page's row has in common: errors are pages too, and no other origin's script reads any of it. */
export const pageRow = {
  group: "pages",
  auth: "none",
  success: Schema.Unknown,
  produces: "text/html",
  errorBody: "page",
  sameOrigin: true,
  headers: ["cookie", "sec-fetch-site"],
} as const

/** The same for what a form sends. */
export const formRow = { ...pageRow, method: "post", rawBody: true, bodyLimitBytes: 32 * 1024 } as const
