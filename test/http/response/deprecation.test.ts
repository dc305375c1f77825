import { Context, Effect, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { NotFound } from "../../../schema/errors.ts"
import { toEndpoint } from "../../../src/http/dispatch.ts"
import type { Guards } from "../../../src/http/guards.ts"
import { openApi } from "../../../src/http/openapi.ts"
import { StaticResponse } from "../../../src/http/response/static.ts"
import { route } from "../../../src/http/route.ts"
import { serveEndpoints } from "../../fixtures/servers/http-server.ts"
import { cleanUp } from "../../fixtures/suite/clean-up.ts"

const deprecated = { since: "2026-11-01", sunset: "2027-05-01", link: "https://docs.example/moves" } as const
const base = {
  group: "test",
  summary: "For the test",
  method: "get",
  auth: "none",
  success: Schema.Unknown,
} as const
const word = Effect.succeed("word")
const prepared = (own: string) =>
  Effect.succeed(
    () => new StaticResponse({ status: "200 OK", code: 200, lines: "Content-Type: text/plain" }, own, "made"),
  )

const rows = [
  route({ ...base, id: "old", path: "/old", deprecated, errors: [], handler: () => word }),
  route({
    ...base,
    id: "oldFailing",
    path: "/old/failing",
    deprecated: { since: "2026-11-01" },
    errors: [NotFound],
    handler: () => Effect.fail(new NotFound({})),
  }),
  route({
    ...base,
    id: "oldPrepared",
    path: "/old/prepared",
    deprecated,
    errors: [],
    handler: () => word,
    prepared: prepared(""),
  }),
  route({ ...base, id: "new", path: "/new", errors: [], handler: () => word, prepared: prepared("") }),
  route({ ...base, id: "newPlain", path: "/new/plain", errors: [], handler: () => word }),
]
const guards = {} as Guards["Service"]
const endpoints = await Effect.runPromise(
  Effect.forEach(rows, (row) => toEndpoint(row, { guards, context: Context.empty(), checkAnswers: false })),
)
const serveRows = async (allowedOrigins = ["*"]) => {
  const server = await serveEndpoints(endpoints, { allowedOrigins })
  cleanUp(() => server.stop(0))
  return `http://127.0.0.1:${server.port}`
}
const url = await serveRows()
const headersOf = async (path: string) => (await fetch(url + path)).headers

describe("a response of a deprecated route", () => {
  it.each([["/old"], ["/old/prepared"]])(
    "%s says since when, until when, and where to read more",
    async (path) => {
      const headers = await headersOf(path)
      expect(headers.get("deprecation")).toBe("@1793491200")
      expect(headers.get("sunset")).toBe("Sat, 01 May 2027 00:00:00 GMT")
      expect(headers.get("link")).toBe('<https://docs.example/moves>; rel="deprecation"; type="text/html"')
    },
  )

  it("that is an error has the headers too, and only those that the row names", async () => {
    const headers = await headersOf("/old/failing")
    expect(headers.get("deprecation")).toBe("@1793491200")
    expect(headers.has("sunset")).toBe(false)
    expect(headers.has("link")).toBe(false)
  })

  it("that is precomputed has a request id that no other route has given", async () => {
    const ids = [
      await headersOf("/old/prepared"),
      await headersOf("/new"),
      await headersOf("/old/prepared"),
    ].map((headers) => headers.get("x-request-id"))
    expect(new Set(ids).size).toBe(3)
  })

  it("can be read by scripts of the allowed origins", async () => {
    const listed = await serveRows(["https://shop.example"])
    const { headers } = await fetch(`${listed}/old`, { headers: { origin: "https://shop.example" } })
    expect(headers.get("access-control-expose-headers")).toMatch(/\bDeprecation, Sunset\b/)
  })
})

it.each([["/new"], ["/new/plain"]])("a response of the other route %s has no such header", async (path) => {
  expect((await headersOf(path)).has("deprecation")).toBe(false)
})

it("OpenAPI marks deprecated operations", () => {
  const { paths } = openApi(rows, ["http://localhost"])
  expect(paths["/old"]).toMatchObject({
    get: {
      deprecated: true,
      description:
        "Deprecated since 2026-11-01. It may be removed from 2027-05-01 on. See https://docs.example/moves",
    },
  })
  expect(JSON.stringify(paths["/new"])).not.toContain("deprecated")
})

it("a row with a date that does not exist stops the start", async () => {
  const row = route({
    ...base,
    id: "odd",
    path: "/odd",
    deprecated: { since: "soon" },
    errors: [],
    handler: () => word,
  })
  const made = toEndpoint(row, { guards, context: Context.empty(), checkAnswers: false })
  await expect(Effect.runPromise(made)).rejects.toThrow("deprecated: soon is not a date such as 2026-11-01")
})
