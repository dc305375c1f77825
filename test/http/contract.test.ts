import { describe, expect, it } from "vitest"
import type { Operation } from "../../src/docs-page/document.ts"
import { openApi } from "../../src/http/openapi.ts"
import { parameterNames } from "../../src/http/request/path.ts"
import { routes } from "../../src/routes.ts"
import { contractOperations, expectContract } from "../fixtures/contract.ts"

const shapeOf = (method: string, path: string) =>
  `${method === "del" ? "delete" : method} ${path.replaceAll(/:\w+|\{\w+\}/g, "{}")}`
const rows = new Map(routes.map((row) => [shapeOf(row.method, row.path), row]))
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
const answered = contractOperations.filter(({ method, path }) => rows.has(shapeOf(method, path)))

describe("the route table", () => {
  it("has every operation of the original API contract", () => {
    expect(contractOperations.filter((operation) => !answered.includes(operation)).map(nameOf)).toEqual([])
  })

  it.each(answered.map((operation) => [nameOf(operation), operation] as const))(
    "has the parameters and the success status of the original API contract: %s",
    (_name, operation) => {
      const row = rows.get(shapeOf(operation.method, operation.path))!
      const named = (place: string) => operation.parameters.filter((p) => p.in === place).map((p) => p.name)
      expect(Object.keys(row.query ?? {})).toEqual(expect.arrayContaining(named("query")))
      expect(parameterNames(row.path)).toHaveLength(named("path").length)
      expect(row.body !== undefined || row.rawBody === true).toBe(named("body").length > 0)
      if (row.produces === undefined && operation.path !== "/redirect") expect(row.status ?? 200).toBe(200)
    },
  )

  it("generates OpenAPI types of non-string query parameters that match the original API contract", () => {
    const document = openApi(routes, [])
    const told = answered.flatMap((operation) => {
      const { method, path } = operation
      const [, documented] = Object.entries(document.paths).find(
        ([other, methods]) => method in methods && shapeOf(method, other) === shapeOf(method, path),
      )!
      const { parameters } = documented[method] as Operation
      return operation.parameters
        .filter((p) => p.in === "query" && (p.type !== "string" || p.format === "date-time"))
        .filter((p) => p.type !== "array")
        .map(({ format, name, type }) => ({
          name: `${nameOf(operation)} ${name}`,
          expected: [type, format === "date-time" ? format : undefined],
          found: parameters.filter((p) => p.name === name).flatMap((p) => [p.schema.type, p.schema.format]),
        }))
    })
    expect(told.length).toBeGreaterThan(10)
    expect(told.filter(({ expected, found }) => String(found) !== String(expected))).toEqual([])
  })

  it("generates OpenAPI parameters for the sign-in pages and the partner flows", () => {
    const { paths } = openApi(routes, [])
    const given = (path: string) =>
      (paths[path]!["get"] as Operation).parameters.filter((p) => p.in === "query").map(({ name }) => name)
    const sender = ["client_id", "redirect_uri", "scope", "state"]
    const flow = "/partner/{partner_path}"
    for (const [path, names] of Object.entries({
      "/authorize": ["response_type", ...sender, "svc"],
      "/magic_link": ["refresh_token", ...sender],
      [flow]: ["refresh_token", "eid", "addresses", "address_json"],
      [`${flow}/link-email`]: ["refresh_token", "eid", "addresses"],
      [`${flow}/manage`]: ["refresh_token", "addresses"],
    }))
      expect([path, given(path)]).toEqual([path, expect.arrayContaining(names)])
    const { parameters } = paths["/authorize"]!["get"] as Operation
    expect(parameters.find(({ name }) => name === "state")!.schema).toMatchObject({ maxLength: 50 })
  })

  it("generates an OpenAPI response 304 for every operation that reads If-None-Match", () => {
    const { paths } = openApi(routes, [])
    for (const row of routes.filter((row) => !row.internal && row.headers?.includes("if-none-match"))) {
      const { parameters, responses } = paths[row.path.replaceAll(/:(\w+)/g, "{$1}")]!["get"] as Operation
      expect(parameters.map(({ name }) => name)).toContain("If-None-Match")
      expect(Object.keys(responses)).toContain("304")
    }
  })

  it("generates OpenAPI redirects and the response headers that clients need", () => {
    const { paths } = openApi(routes, [])
    const told = (method: string, path: string, status: number) =>
      Object.keys((paths[path]![method] as Operation).responses[status]?.headers ?? {})
    const forms = ["/authorize", "/magic_link", "/partner/{partner_path}", "/sandbox/checkout/{session}"]
    for (const path of [...forms, "/partner/{partner_path}/link-email", "/partner/{partner_path}/manage"])
      expect([path, told("post", path, 303)]).toEqual([path, ["Location"]])
    expect(told("get", "/authorize", 302)).toEqual(["Location"])
    expect(told("get", "/magic_link", 303)).toEqual(["Location"])
    expect(told("get", "/redirect", 302)).toEqual(["Location"])
    expect(told("get", "/emoji_id/{emoji_id}", 200)).toEqual(["ETag"])
    expect(told("get", "/emoji_id/{emoji_id}", 304)).toEqual(["ETag"])
    expect(told("post", "/auth/token", 429)).toEqual(["Retry-After", "X-Error-Code", "X-Request-Id"])
    expect(told("get", "/cart", 401)).toEqual(["WWW-Authenticate", "X-Error-Code", "X-Request-Id"])
    expect(told("post", "/cart/checkout", 200)).toEqual(["Idempotent-Replayed"])
    expect(told("get", "/cart", 200)).toEqual([])
  })

  it("uses every operation id only once", () => {
    const ids = routes.map((row) => row.id)
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  })
})

describe("the test helper `expectContract`", () => {
  const wallet = { eth_address: "0x0", user_id: "00000000-0000-4000-8000-000000000000" }

  it("accepts additional members, and null for optional members", () => {
    expectContract("Wallet", { ...wallet, more: 1 })
    expectContract("EidResponse", { status: true, error: null })
  })

  it("rejects a missing member at any depth", () => {
    expect(() => expectContract("Wallet", { eth_address: "0x0" })).toThrow(/user_id: required/)
    expect(() => expectContract("LoadUser", { wallets: [{ user_id: wallet.user_id }] })).toThrow(
      /wallets\[0\]\.eth_address: required/,
    )
  })

  it("rejects a wrong type, a value outside the enum, and a string that is not a UUID", () => {
    expect(() => expectContract("Wallet", { ...wallet, user_id: "me" })).toThrow(/no uuid/)
    expect(() => expectContract("WalletSyncRequest", { signature: 1, source: "x" })).toThrow(
      /expected string/,
    )
    expect(() => expectContract("WalletSyncRequest", { signature: "", source: "x" })).toThrow(/enum/)
  })
})
