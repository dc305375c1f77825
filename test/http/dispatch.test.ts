import { Context, Effect, Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { roleScopes } from "../../schema/accounts/scope.ts"
import { Conflict, EventRefused, NotFound, Unauthorized, Unprocessable } from "../../schema/errors.ts"
import { IntText, optional, Uuid } from "../../schema/wire-format.ts"
import { toEndpoint } from "../../src/http/dispatch.ts"
import type { Guards } from "../../src/http/guards.ts"
import { openApi } from "../../src/http/openapi.ts"
import type { Principal } from "../../src/http/principal.ts"
import { Reply } from "../../src/http/response/reply.ts"
import { type Route, route } from "../../src/http/route.ts"
import type { Server } from "../../src/http/server.ts"
import { serveEndpoints } from "../fixtures/servers/http-server.ts"
import { type CallOptions, request } from "../fixtures/service.ts"

const principal = (via: Principal["via"], scopes: Principal["scopes"]): Principal => ({
  userId: "u",
  role: "User",
  scopes,
  via,
  sessionId: "s",
  emojiId: undefined,
  organizations: new Map(),
  twoFactor: false,
})
const people: Record<string, Principal> = {
  "Bearer member": principal("session", roleScopes.User),
  "Bearer stranger": principal("session", new Set()),
  "Bearer oauth": principal("oauth", roleScopes.User),
}
let handled = 0
const guards: Guards["Service"] = {
  authenticate: (scheme, { headers }) => {
    const found = people[headers["authorization"] ?? ""]
    return found
      ? Effect.succeed(found)
      : scheme === "optional"
        ? Effect.succeed(null)
        : Effect.fail(new Unauthorized({}))
  },
  limit: () => Effect.succeed({ "RateLimit-Remaining": "9" }),
  freshCode: () => Effect.void,
  once: (key, _route, _request, _principal, run) =>
    key === "busy" ? Effect.fail(new Conflict({ error: "still running" })) : run,
  afterEnd: () => Effect.succeed(undefined),
}

const base = { group: "test", summary: "For the test", errors: [], success: Schema.Unknown } as const
const rows = [
  route({
    ...base,
    id: "read",
    method: "get",
    path: "/things/:thing",
    auth: "none",
    params: { thing: Uuid },
    query: { limit: Schema.optionalKey(IntText(1, 10)), tags: Schema.optionalKey(Schema.String) },
    handler: ({ params, query }) => Effect.succeed({ params, query }),
  }),
  route({
    ...base,
    id: "write",
    method: "post",
    path: "/things",
    auth: "apiKey",
    scope: "cart:update",
    limit: "write",
    body: Schema.Struct({
      name: Schema.String,
      note: optional(Schema.String),
      any: Schema.optionalKey(Schema.Unknown),
    }),
    handler: ({ body, principal: who }) =>
      Effect.sync(() => {
        handled++
        return { body, who: who.userId }
      }),
  }),
  route({
    ...base,
    id: "readOwn",
    method: "get",
    path: "/own/:what",
    auth: "apiKey",
    params: { what: Schema.Literals(["thing", "nothing"]) },
    errors: [NotFound],
    handler: ({ params, principal: who }) =>
      params.what === "thing" ? Effect.succeed(who.userId) : new NotFound({ error: "There is none." }),
  }),
  route({
    ...base,
    id: "bodyless",
    method: "post",
    path: "/press",
    auth: "optional",
    status: 201,
    handler: ({ principal: who }) => Effect.succeed({ who: who?.userId ?? null }),
  }),
  route({
    ...base,
    id: "fails",
    method: "post",
    path: "/fails/:how",
    auth: "none",
    params: { how: Schema.Literals(["fields", "state", "defect", "wrong"]) },
    success: Schema.String,
    errors: [Unprocessable, EventRefused],
    handler: ({ params }) => {
      switch (params.how) {
        case "fields":
          return new Unprocessable({
            error: "Already registered.",
            fields: { email: [{ code: "uniqueness", message: "Already registered." }] },
          })
        case "state":
          return new EventRefused({ details: { state: "Paid", allowed: ["REFUND"] } })
        case "defect":
          return Effect.die(new Error("password=hunter2 in a stack"))
        default:
          return Effect.succeed(7 as never)
      }
    },
  }),
  route({
    ...base,
    id: "lookup",
    method: "get",
    path: "/lookup",
    auth: "none",
    errorBody: "lookup",
    errors: [Conflict],
    handler: () => new Conflict({ error: "no" }),
  }),
  route({
    ...base,
    id: "token",
    method: "post",
    path: "/token",
    auth: "none",
    errorBody: "oauth",
    errors: [Conflict],
    handler: () => new Conflict({ error: "The code was used.", details: { oauth: "invalid_grant" } }),
  }),
  route({
    ...base,
    id: "page",
    method: "get",
    path: "/page",
    auth: "none",
    produces: "text/html",
    success: Schema.String,
    handler: () => Effect.succeed(Reply.raw("<p>hi</p>", { "Content-Type": "text/html; charset=utf-8" })),
  }),
] as const

let server: Server
beforeAll(async () => {
  const endpoints = await Effect.runPromise(
    Effect.forEach(rows as ReadonlyArray<Route<never>>, (row) =>
      toEndpoint(row, { guards, context: Context.empty() as Context.Context<never>, checkAnswers: true }),
    ),
  )
  server = await serveEndpoints(endpoints)
})
afterAll(() => server.stop(500))

const call = (method: string, path: string, options?: CallOptions) =>
  request(`http://127.0.0.1:${server.port}${path}`, method, options)
const id = "6f2c8f0e-3d0b-4d6f-9a52-0d8f6f7f1c11"

describe("a request", () => {
  it("is decoded from path and query; the values of a repeated query parameter are joined by commas", async () => {
    const answer = await call("GET", `/things/${id}?limit=3&tags=0x1003&tags=0x1004`)
    expect(answer.body).toEqual({ params: { thing: id }, query: { limit: "3", tags: "0x1003,0x1004" } })
  })
  it.each([
    [`/things/not-a-uuid`, "path: thing"],
    [`/things/${id}?limit=0`, "query: limit"],
    [`/things/${id}?limit=1e1`, "query: limit"],
    [`/things/${id}?tags=%zz`, "query"],
    [`/things/${id}?tags=%00`, "query"],
  ])("with an invalid path or query gets a 400 that names the invalid part: %s", async (path, where) => {
    const answer = await call("GET", path)
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(where)
    expect(answer.body).toMatchObject({
      code: "invalid_request",
      request_id: answer.headers.get("x-request-id"),
    })
  })
  it("may have a JSON body with `null` for an optional member and with unknown members", async () => {
    const answer = await call("POST", "/things", {
      token: "member",
      body: { name: "a", note: null, extra: 1 },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get("ratelimit-remaining")).toBe("9")
  })
  it.each([
    ["an empty body", ""],
    ["`null`", "null"],
    ["a truncated object", '{"name":'],
    ["a missing member", "{}"],
    ["a wrong type", '{"name":7}'],
    ["bytes that are not UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0xfe])],
    ["an escaped NUL", '{"name":"a\\u0000b"}'],
    ["a lone surrogate", '{"name":"\\ud83d"}'],
    ["a lone surrogate in a member's name", '{"name":"x","any":{"\\ud83d":1}}'],
    ["sixty thousand brackets", "[".repeat(60_000)],
    ["nesting that is too deep", `{"name":"x","any":${"[".repeat(100)}${"]".repeat(100)}}`],
  ])("with an invalid body gets 400, and its handler does not run: %s", async (_what, rawBody) => {
    const before = handled
    const answer = await call("POST", "/things", { token: "member", rawBody })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatch(/^body: /)
    expect(handled).toBe(before)
  })
  it("may have the member `__proto__`, which is ignored, and a repeated member, whose last value is used", async () => {
    const rawBody = '{"__proto__":{"admin":true},"name":"first","name":"second"}'
    const answer = await call("POST", "/things", { token: "member", rawBody })
    expect(answer.body.body).toEqual({ name: "second" })
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })
  it("may have any body, even invalid JSON, if the operation takes no body", async () => {
    for (const rawBody of ["", "null", "{"]) {
      const answer = await call("POST", "/press", {
        rawBody,
        headers: { "content-type": "application/json" },
      })
      expect(answer.status).toBe(201)
    }
  })
})

describe("a caller", () => {
  it("without credentials gets 401 if credentials are required, and is anonymous if credentials are optional", async () => {
    const refused = await call("POST", "/things", { body: { name: "a" } })
    expect(refused.status).toBe(401)
    expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="api"')
    expect((await call("POST", "/press")).body).toEqual({ who: null })
    expect((await call("POST", "/press", { token: "member" })).body).toEqual({ who: "u" })
  })
  it("without the required scope gets a 403 that names the scope, even if the body is invalid", async () => {
    const answer = await call("POST", "/things", { token: "stranger", rawBody: "{" })
    expect(answer.status).toBe(403)
    expect(answer.body).toMatchObject({ code: "forbidden", scope: "cart:update" })
  })
  it("with credentials gets responses that caches must not store (`no-store`)", async () => {
    for (const path of ["/own/thing", "/own/nothing", "/own/else"]) {
      const { headers } = await call("GET", path, { token: "member" })
      expect([path, headers.get("cache-control")]).toEqual([path, "no-store"])
    }
  })
  it("without credentials gets responses that caches must revalidate (`no-cache`)", async () => {
    for (const path of [`/things/${id}`, "/things/none", "/nowhere"]) {
      const { headers } = await call("GET", path)
      expect([path, headers.get("cache-control")]).toEqual([path, "no-cache"])
    }
  })
  it("with an OAuth token gets 403 if the route does not allow OAuth tokens, and is anonymous if login is optional", async () => {
    expect((await call("POST", "/things", { token: "oauth", body: { name: "a" } })).status).toBe(403)
    expect((await call("POST", "/press", { token: "oauth" })).body).toEqual({ who: null })
  })
})

describe("a request that fails", () => {
  it("because of an invalid field gets a 422 that names the field", async () => {
    const answer = await call("POST", "/fails/fields")
    expect(answer.status).toBe(422)
    expect(answer.body.fields).toEqual({ email: [{ code: "uniqueness", message: "Already registered." }] })
  })
  it("because of the state of an entity gets a 409 with the state and the allowed events", async () => {
    const answer = await call("POST", "/fails/state")
    expect(answer.status).toBe(409)
    expect(answer.body).toMatchObject({ state: "Paid", allowed: ["REFUND"], code: "refused_by_state" })
  })
  it("because of an unexpected error gets a 500 with the request id and without internal details", async () => {
    const answer = await call("POST", "/fails/defect")
    expect(answer.status).toBe(500)
    expect(answer.text).not.toMatch(/hunter2|stack|Error/)
    expect(answer.body).toEqual({
      error: "Internal server error. Retry later, or report the request id.",
      code: "internal",
      request_id: answer.headers.get("x-request-id"),
    })
  })
  it("because its handler returns a value that does not match the schema gets 500 in tests", async () => {
    expect((await call("POST", "/fails/wrong")).status).toBe(500)
  })
  it("gets the error body that its route declares: the lookup form or the OAuth form", async () => {
    expect((await call("GET", "/lookup")).body).toEqual({ error: "no" })
    expect((await call("POST", "/token")).body).toEqual({
      error: "invalid_grant",
      error_description: "The code was used.",
    })
  })
  it("because the first request with its Idempotency-Key is still running gets 409", async () => {
    const headers = { "Idempotency-Key": "busy" }
    expect((await call("POST", "/press", { headers })).status).toBe(409)
  })
})

describe("the OpenAPI document", () => {
  const document = openApi(rows as never, ["http://x"])
  it("contains the parameters, the security schemes and the responses of a route", () => {
    expect(document.paths["/things/{thing}"]?.["get"]).toMatchObject({
      operationId: "read",
      security: [],
      parameters: [
        { name: "thing", in: "path", required: true },
        { name: "limit", in: "query", required: false },
        { name: "tags", in: "query", required: false },
      ],
      responses: { 200: {}, 400: {} },
    })
    expect(document.paths["/things"]?.["post"]).toMatchObject({
      security: [{ JWT: ["cart:update"] }, { apiKey: ["cart:update"] }],
      requestBody: { required: true },
      responses: { 200: {}, 400: {}, 401: {}, 403: {}, 429: {} },
    })
  })
  it("documents Idempotency-Key and its errors only for routes that support it", () => {
    const key = { name: "Idempotency-Key", in: "header", required: false }
    expect(document.paths["/things"]?.["post"]).toMatchObject({
      parameters: [key],
      responses: {
        409: {},
        422: { content: { "application/json": { schema: { $ref: "#/components/schemas/FieldProblem" } } } },
      },
    })
    expect(document.paths["/things/{thing}"]?.["get"]).not.toMatchObject({
      parameters: expect.arrayContaining([expect.objectContaining(key)]),
    })
  })
  it("documents the error schema that a route uses", () => {
    const shown = (schema: string) => ({
      content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
    })
    expect(document.paths["/lookup"]?.["get"]).toMatchObject({
      responses: { default: shown("LookupProblem") },
    })
    expect(document.paths["/token"]?.["post"]).toMatchObject({
      responses: { default: shown("OauthProblem") },
    })
  })
  it("refers only to schemas that it contains", () => {
    const text = JSON.stringify(document)
    const names = [...text.matchAll(/#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name)
    for (const name of names) expect(Object.keys(document.components.schemas)).toContain(name)
    expect(text).not.toContain("$defs")
  })
})
