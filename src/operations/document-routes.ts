import { Effect, Schema } from "effect"
import { AppConfig } from "../config/config.ts"
import { openApi } from "../http/openapi.ts"
import { Reply } from "../http/response/reply.ts"
import { type Route, route } from "../http/route.ts"
import { asyncApi } from "../live/asyncapi.ts"
import { docsPage } from "./docs.ts"

/** Written when it is first asked for, and kept: writing one takes milliseconds, and anybody may ask. */
const kept = (write: (baseUrl: string) => Reply<never>) => {
  let reply: Reply<never> | undefined
  return () =>
    AppConfig.use(({ baseUrl }) =>
      Effect.sync(() => {
        if (reply === undefined) {
          const { headers, raw } = write(baseUrl)
          reply = Reply.raw(Buffer.from(raw ?? ""), headers)
        }
        return reply
      }),
    )
}

const json = (document: unknown) =>
  Reply.raw(JSON.stringify(document), { "Content-Type": "application/json" })

/** Documents made from the table itself; the table is handed in because it contains these rows. */
export const documents = (table: () => ReadonlyArray<Route>) => {
  let document: ReturnType<typeof openApi> | undefined
  const describe = (baseUrl: string) => (document ??= openApi(table(), [baseUrl]))
  const shared = {
    group: "operations",
    summary: "This API as OpenAPI 3.1",
    method: "get",
    auth: "none",
    success: Schema.Unknown,
    errors: [],
    handler: kept((baseUrl) => json(describe(baseUrl))),
  } as const
  return [
    route({ ...shared, id: "openapi", path: "/openapi.json" }),
    route({ ...shared, id: "swagger", path: "/swagger", internal: true }),
    route({
      ...shared,
      id: "asyncapi",
      summary: "The live socket as AsyncAPI 3.0",
      path: "/asyncapi.json",
      handler: kept((baseUrl) => json(asyncApi(baseUrl))),
    }),
    route({
      ...shared,
      id: "docs",
      summary: "This API as a page",
      path: "/docs",
      produces: "text/html",
      handler: kept((baseUrl) => docsPage(describe(baseUrl))),
    }),
  ] as const
}
