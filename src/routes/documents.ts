import { Effect, Schema } from "effect"
import { AppConfig } from "../config.ts"
import { openApi } from "../http/openapi.ts"
import { type Route, route } from "../http/route.ts"

/** Documents made from the table itself; the table is handed in because it contains these rows. */
export const documents = (table: () => ReadonlyArray<Route>) => {
  let document: unknown
  const handler = () =>
    AppConfig.use((config) => Effect.sync(() => (document ??= openApi(table(), [config.baseUrl]))))
  const shared = {
    group: "operations",
    summary: "This API as OpenAPI 3.1",
    method: "get",
    auth: "none",
    success: Schema.Unknown,
    errors: [],
    handler,
  } as const
  return [
    route({ ...shared, id: "openapi", path: "/openapi.json" }),
    route({ ...shared, id: "swagger", path: "/swagger", internal: true }),
  ] as const
}
