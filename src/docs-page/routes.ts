import { Effect, Schema } from "effect"
import { NotFound } from "../../schema/errors.ts"
import { isLoopback } from "../config/loopback.ts"
import { publishedSecrets } from "../config/published-demo-secrets.ts"
import { AppConfig, type Config } from "../config/read-config.ts"
import { openApi } from "../http/openapi.ts"
import { Reply } from "../http/response/reply.ts"
import { type Route, route } from "../http/route.ts"
import { asyncApi } from "../live/asyncapi.ts"
import { clientArchive } from "./client-archive.ts"
import { readExamples } from "./examples.ts"
import { pageNames, renderPage } from "./page.ts"
import type { Reference } from "./reference.ts"
import { searchIndex } from "./search-index.ts"

const json = (document: unknown) =>
  Reply.raw(JSON.stringify(document), { "Content-Type": "application/json" })

/** The demo accounts that everyone knows. Empty if there is no demo data, or if its passwords are derived. */
const demoLoginsOf = ({ demo, demoPasswords, host }: Config): Reference["demoLogins"] =>
  demo && (isLoopback(host) || demoPasswords === "published")
    ? (["alice@example.com", "bob@example.com", "admin@example.com"] as const).map((email) => ({
        email,
        password: publishedSecrets[email],
      }))
    : []

/** A server on this machine is written as `/`, because the name localhost means another machine to other readers. */
const serverOf = (baseUrl: string): string => (isLoopback(new URL(baseUrl).hostname) ? "/" : baseUrl)

/** Returns everything that the pages show, from the route table and the frames of the live protocol. */
export const referenceOf = (config: Config, table: ReadonlyArray<Route>): Reference => ({
  baseUrl: config.baseUrl,
  openApi: openApi(table, [serverOf(config.baseUrl)], readExamples()),
  asyncApi: asyncApi(config.baseUrl, readExamples().events),
  limits: {
    coldLookupsPerMinute: config.rateLimit === "off" ? undefined : config.coldLookupsPerMinute,
    byOperation: Object.fromEntries(
      table.flatMap(({ id, internal, limit }) => (internal || limit === undefined ? [] : [[id, limit]])),
    ),
  },
  demoLogins: demoLoginsOf(config),
})

/**
 * The routes of the OpenAPI document, the AsyncAPI document and the API reference. `table` returns the route table. It
 * is a function, because the route table contains these routes themselves.
 */
export const documents = (table: () => ReadonlyArray<Route>) => {
  let reference: Reference | undefined
  const replies = new Map<string, Reply<never>>()
  /**
   * Generates a document for the first request and reuses it for later requests. Generating a document takes
   * milliseconds of CPU time. The routes are public, so many requests without reuse would slow the process down.
   */
  const cached = (name: string, write: (reference: Reference) => Reply<never>) =>
    AppConfig.use((config) =>
      Effect.sync(() => {
        reference ??= referenceOf(config, table())
        const known = replies.get(name)
        if (known !== undefined) return known
        const { headers, raw } = write(reference)
        const reply: Reply<never> = Reply.raw(Buffer.from(raw ?? ""), headers)
        replies.set(name, reply)
        return reply
      }),
    )
  const shared = {
    group: "operations",
    method: "get",
    auth: "none",
    success: Schema.Unknown,
    errors: [],
  } as const
  const openApiRow = {
    ...shared,
    summary: "Get the OpenAPI 3.1 document of this API",
    description:
      "The machine-readable description of this API, for generators of clients and for linters. It has the same descriptions and examples as these pages.",
    handler: () => cached("openapi.json", ({ openApi }) => json(openApi)),
  } as const
  const pageRow = { ...shared, summary: "Show the API reference", produces: "text/html" } as const
  return [
    clientArchive,
    route({ ...openApiRow, id: "openapi", path: "/openapi.json" }),
    route({ ...openApiRow, id: "swagger", path: "/swagger", internal: true }),
    route({
      ...shared,
      id: "asyncapi",
      summary: "Get the AsyncAPI 3.1 document of the WebSocket protocol",
      description:
        "The machine-readable description of the WebSocket at `GET /live`: frames, channels, close codes and limits.",
      path: "/asyncapi.json",
      handler: () => cached("asyncapi.json", ({ asyncApi }) => json(asyncApi)),
    }),
    route({
      ...pageRow,
      id: "docs",
      description: "These pages, for people. Programs use `GET /openapi.json`.",
      path: "/docs",
      handler: () => cached("page", (all) => renderPage(all, "")),
    }),
    route({
      ...shared,
      id: "docsSearch",
      summary: "List what the API reference contains, for its search",
      path: "/docs/search.json",
      internal: true,
      handler: () => cached("search.json", (all) => json(searchIndex(all))),
    }),
    route({
      ...pageRow,
      id: "docsPage",
      path: "/docs/:page",
      internal: true,
      errorBody: "page",
      params: { page: Schema.String },
      errors: [NotFound],
      handler: ({ params }) =>
        pageNames(table()).has(params.page)
          ? cached(`page ${params.page}`, (all) => renderPage(all, params.page))
          : new NotFound({ error: "The API reference has no such page." }),
    }),
  ] as const
}
