import { Effect, Schema } from "effect"
import { AppConfig } from "../config/config.ts"
import { openApi } from "../http/openapi.ts"
import { Reply } from "../http/response/reply.ts"
import { type Route, route } from "../http/route.ts"
import { asyncApi } from "../live/asyncapi.ts"
import { docsPage } from "./docs.ts"

/**
 * Returns a handler that generates a document on the first request and reuses it for later requests. Generating a
 * document takes milliseconds of CPU time. The routes are public, so many requests without reuse would slow the process
 * down.
 */
const cached = (write: (baseUrl: string) => Reply<never>) => {
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

/**
 * The routes of the OpenAPI document, the AsyncAPI document and the API reference. `table` returns the route table. It
 * is a function, because the route table contains these routes themselves.
 */
export const documents = (table: () => ReadonlyArray<Route>) => {
  let document: ReturnType<typeof openApi> | undefined
  const describe = (baseUrl: string) => (document ??= openApi(table(), [baseUrl]))
  const shared = {
    group: "operations",
    summary: "Get the OpenAPI 3.1 document of this API",
    method: "get",
    auth: "none",
    success: Schema.Unknown,
    errors: [],
    handler: cached((baseUrl) => json(describe(baseUrl))),
  } as const
  return [
    route({ ...shared, id: "openapi", path: "/openapi.json" }),
    route({ ...shared, id: "swagger", path: "/swagger", internal: true }),
    route({
      ...shared,
      id: "asyncapi",
      summary: "Get the AsyncAPI 3.0 document of the WebSocket protocol",
      path: "/asyncapi.json",
      handler: cached((baseUrl) => json(asyncApi(baseUrl))),
    }),
    route({
      ...shared,
      id: "docs",
      summary: "Show the API reference",
      path: "/docs",
      produces: "text/html",
      handler: cached((baseUrl) => docsPage(describe(baseUrl))),
    }),
  ] as const
}
