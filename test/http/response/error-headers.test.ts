import { describe, expect, it } from "vitest"
import * as problems from "../../../schema/errors.ts"
import type { Refusal } from "../../../src/http/exchange.ts"
import { refusalResponse } from "../../../src/http/response/problem.ts"
import type { Route } from "../../../src/http/route.ts"
import { routes } from "../../../src/routes.ts"
import { serveEndpoints } from "../../fixtures/servers/http-server.ts"
import { type Answer, type CallOptions, serve } from "../../fixtures/service.ts"
import { cleanUp } from "../../fixtures/suite/clean-up.ts"

const service = await serve()
const user = await service.user()
const admin = await service.user({ role: "Admin" })

const codes = new Set(
  Object.values(problems).flatMap((one) =>
    typeof one === "function" && "kind" in one ? [one.kind.code] : [],
  ),
)
const isSameOrigin = new Set(routes.filter(({ sameOrigin }) => sameOrigin).map(({ id }) => id))

/** Returns what an error lacks. */
const faultsOf = ({ body, headers, status }: Answer, route?: Route): ReadonlyArray<string> => {
  const code = headers.get("x-error-code") ?? ""
  const exposed = (headers.get("access-control-expose-headers") ?? "").split(", ")
  const named = [
    "X-Error-Code",
    "X-Request-Id",
    "Retry-After",
    "Link",
    "WWW-Authenticate",
    "Idempotent-Replayed",
  ]
  const isExposed = named.every((name) => exposed.includes(name))
  return [
    ...(codes.has(code) ? [] : [`${status}: X-Error-Code "${code}"`]),
    ...(headers.get("x-request-id") ? [] : [`${status}: no X-Request-Id`]),
    ...(body?.code === undefined || body.code === code ? [] : [`${status}: ${body.code} is not ${code}`]),
    ...(isExposed || isSameOrigin.has(route?.id ?? "") ? [] : [`${status}: exposed ${exposed}`]),
    ...(status === 401 && !headers.has("www-authenticate") ? ["401: no WWW-Authenticate"] : []),
  ]
}

const zero = "00000000-0000-4000-8000-000000000000"
const methodOf = ({ method }: Route) => (method === "del" ? "DELETE" : method.toUpperCase())
const pathOf = ({ path }: Route, value: string) =>
  path.replaceAll(/:(\w+)/g, (_, name: string) =>
    /emoji_id|eid/.test(name) && value === zero ? "%F0%9F%8C%8A" : value,
  )

/** Requests that are wrong in different ways. Which of them an operation refuses depends on the operation. */
const attempts: ReadonlyArray<readonly [value: string, options: CallOptions]> = [
  [zero, {}],
  [zero, { headers: { "x-api-key": "svc_a_b" } }],
  [zero, { token: user.token }],
  [zero, { token: admin.token }],
  ["not-valid", { token: admin.token }],
  ["%zz", { token: admin.token }],
  [zero, { token: admin.token, headers: { "idempotency-key": "not valid" } }],
]
const endsCaller = new Set(["logout"])

describe.concurrent.each(routes.map((route) => [`${methodOf(route)} ${route.path}`, route] as const))(
  "an error of %s",
  (_name, route) => {
    it("has a known code and the request id in headers, which scripts of other origins can read", async () => {
      const faults: Array<string> = []
      for (const [value, options] of attempts) {
        if (endsCaller.has(route.id) && options.token !== undefined) continue
        const answer = await service.call(methodOf(route), pathOf(route, value), {
          ...options,
          ...(route.method === "get" ? {} : { rawBody: '{"":' }),
        })
        if (answer.status >= 400) faults.push(...faultsOf(answer, route))
      }
      const refused = await service.call("PROPFIND", pathOf(route, zero))
      expect(refused.status).toBe(405)
      expect([...faults, ...faultsOf(refused)]).toEqual([])
    })
  },
)

describe("an error", () => {
  it("of a cached lookup has the same headers as one that is not cached", async () => {
    const first = await service.call("GET", "/emoji_id/🦀🐙🦀")
    const second = await service.call("GET", "/emoji_id/🦀🐙🦀")
    for (const answer of [first, second]) {
      expect([answer.status, answer.text]).toEqual([404, '{"error":"This emoji id is not registered."}'])
      expect(answer.headers.get("x-error-code")).toBe("not_found")
      expect(faultsOf(answer)).toEqual([])
    }
  })

  it("of a public lookup keeps a body with only an error text", async () => {
    for (const path of [
      "/emoji_id/x",
      "/emoji_id/🦀/payment?tags=x",
      "/emoji_id/🦀/confirm",
      "/emoji_id/🦀🦀🦀/BTC",
    ]) {
      const answer = await service.call("GET", path)
      expect([path, Object.keys(answer.body)]).toEqual([path, ["error"]])
      expect(answer.headers.get("x-error-code")).toMatch(/^(invalid_request|unsupported_emoji|not_found)$/)
    }
  })

  it("shown as a page has the code too", async () => {
    const answer = await service.call("GET", "/nowhere", { headers: { accept: "text/html" } })
    expect(answer.headers.get("content-type")).toMatch(/^text\/html/)
    expect(answer.headers.get("x-error-code")).toBe("not_found")
    const login = await service.call("GET", "/authorize?client_id=none")
    expect([login.status, login.headers.get("x-error-code")]).toEqual([400, "invalid_request"])
  })

  it("of the token endpoint has the code too", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" }
    const answer = await service.call("POST", "/token", {
      rawBody: "grant_type=refresh_token&client_id=a&client_secret=b",
      headers,
    })
    expect([answer.status, answer.body.error]).toEqual([401, "invalid_client"])
    expect(answer.headers.get("x-error-code")).toBe("unauthorized")
    expect(answer.headers.get("www-authenticate")).toMatch(/^Basic /)
  })

  it("that is replayed has the code too", async () => {
    const send = () =>
      service.call("POST", "/api_keys", {
        token: user.token,
        body: { name: 7 },
        headers: { "idempotency-key": "error-headers" },
      })
    await send()
    const answer = await send()
    expect(answer.headers.get("idempotent-replayed")).toBe("true")
    expect(answer.headers.get("x-error-code")).toBe("invalid_request")
  })
})

describe("an error of the server itself", () => {
  it.each<[Refusal, string]>([
    ["bad_length", "invalid_request"],
    ["bad_path", "invalid_request"],
    ["not_found", "not_found"],
    ["too_many_unknown", "too_many_requests"],
    ["method_not_allowed", "method_not_allowed"],
    ["body_too_large", "body_too_large"],
    ["overloaded", "unavailable"],
    ["deadline", "unavailable"],
    ["defect", "internal"],
  ])("has a code in every form: %s", (kind, code) => {
    for (const shape of [undefined, "lookup", "oauth", "page"] as const)
      expect(refusalResponse(kind, "r", "1", shape).headers?.["X-Error-Code"]).toBe(code)
  })

  it("has the code and the request id when the service is overloaded", async () => {
    const server = await serveEndpoints([
      {
        method: "get",
        path: "/busy",
        headers: [],
        needsAddress: false,
        bodyLimitBytes: 0,
        handle: () => () => true,
        refuses: () => true,
      },
    ])
    cleanUp(() => server.stop(0))
    const { headers, status } = await fetch(`http://127.0.0.1:${server.port}/busy`)
    expect([status, headers.get("x-error-code")]).toEqual([503, "unavailable"])
    expect(headers.get("x-request-id")).toMatch(/\d$/)
  })
})
