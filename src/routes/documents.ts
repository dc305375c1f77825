import { Effect, Schema } from "effect"
import { AppConfig } from "../config.ts"
import { openApi } from "../http/openapi.ts"
import { type Route, route } from "../http/route.ts"
import { asyncApi } from "../live/asyncapi.ts"
import { docsPage } from "../web/docs.ts"

/** Documents made from the table itself; the table is handed in because it contains these rows. */
export const documents = (table: () => ReadonlyArray<Route>) => {
  let document: ReturnType<typeof openApi> | undefined
  let liveDocument: ReturnType<typeof asyncApi> | undefined
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
    route({
      ...shared,
      id: "asyncapi",
      summary: "The live socket as AsyncAPI 3.0",
      path: "/asyncapi.json",
      handler: () =>
        AppConfig.use((config) => Effect.sync(() => (liveDocument ??= asyncApi(config.baseUrl)))),
    }),
    route({
      ...shared,
      id: "docs",
      summary: "This API as a page",
      path: "/docs",
      produces: "text/html",
      handler: () => Effect.map(handler(), docsPage),
    }),
  ] as const
}
