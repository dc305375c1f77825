import { describe, expect, it } from "vitest"
import { parameterNames } from "../../../src/http/request/path.ts"
import { routes } from "../../../src/routes.ts"
import { serve } from "../../fixtures/service.ts"

const service = await serve()
const admin = await service.user({ role: "Admin" })
const token = admin.token
const zero = "00000000-0000-4000-8000-000000000000"

/** Emoji ids are checked after the query and the body, so their test has valid ones. */
const cases = routes
  .filter(({ errorBody, internal }) => errorBody === undefined && !internal)
  .flatMap((row) =>
    parameterNames(row.path)
      .filter((name) => row.params?.[name] !== undefined && name !== "emoji_id")
      .map((name) => [`${row.method} ${row.path}`, name, row] as const),
  )

describe("`fields` of a 400 response", () => {
  it.each(cases)("to %s name the path parameter %s if it is invalid", async (_name, name, row) => {
    const path = row.path.replaceAll(/:(\w+)/g, (_, other: string) =>
      other === name ? "~".repeat(300) : /emoji_id|eid/.test(other) ? "%F0%9F%8C%8A" : zero,
    )
    const method = row.method === "del" ? "DELETE" : row.method.toUpperCase()
    const { body, status } = await service.call(method, path, {
      token,
      ...(row.method === "get" ? {} : { body: {} }),
    })
    // A text without a form names nothing.
    if (status === 404) return
    expect([status, Object.keys(body.fields ?? {})]).toEqual([status, [name]])
    const [issue] = body.fields[name]
    expect(issue.code).toMatch(/^[a-z_]+$/)
    expect(body.error).toContain(issue.message)
  })

  it("have the same form for the path, the query and the body", async () => {
    const fieldsOf = async (method: string, path: string, given?: unknown) => {
      const { body, status } = await service.call(method, path, {
        token,
        ...(given === undefined ? {} : { body: given }),
      })
      return [status, body.fields]
    }
    expect(await fieldsOf("GET", "/orders/none")).toEqual([
      400,
      { id: [{ code: "invalid", message: expect.stringContaining("UUID") }] },
    ])
    expect(await fieldsOf("GET", "/users?limit=0")).toMatchObject([400, { limit: [{ code: "invalid" }] }])
    expect(await fieldsOf("GET", "/users?after=x")).toMatchObject([400, { after: [{ code: "invalid" }] }])
    expect(await fieldsOf("POST", "/cart", { items: [{ emoji_id: 7 }, {}] })).toMatchObject([
      400,
      {
        "items.0.emoji_id": [{ code: "invalid" }],
        "items.1.emoji_id": [{ code: "required" }],
      },
    ])
    expect(await fieldsOf("PATCH", "/account", { first_nam: "A" })).toMatchObject([
      400,
      { first_nam: [{ code: "unknown" }] },
    ])
  })

  it.each([
    ["GET", "metadata"],
    ["GET", "rhythm"],
    ["GET", "stats"],
    ["GET", "json?keys=SvcPageData"],
    ["GET", "json/SvcPageData"],
    ["GET", "resolve?asset=BTC"],
    ["POST", "json/SvcPageData", { data: 1 }],
    ["PUT", "minted", { minted: true }],
    ["PATCH", "", {}],
    ["DELETE", ""],
  ])("name an invalid emoji id in the path of %s …/%s", async (method, rest, body?: object) => {
    const path = `/emoji_id/x/${rest}`
    const answer = await service.call(method, path, { token, ...(body === undefined ? {} : { body }) })
    expect([answer.status, Object.keys(answer.body.fields ?? {})]).toEqual([400, ["emoji_id"]])
  })

  it("name the emoji id, with the reason as the code", async () => {
    const fieldsOf = async (id: string) =>
      (await service.call("GET", `/emoji_id/${encodeURIComponent(id)}/metadata`)).body.fields
    expect(await fieldsOf("🐙x")).toEqual({
      emoji_id: [{ code: "unsupported_emoji", message: '"x" (U+0078) is not a supported emoji.' }],
    })
    expect(await fieldsOf("🐙".repeat(7))).toEqual({
      emoji_id: [{ code: "length", message: "An emoji id must have 1 to 6 emoji." }],
    })
  })

  it("are absent if no single part is invalid", async () => {
    const { body, status } = await service.call("POST", "/cart", { token, rawBody: "{" })
    expect([status, body.fields]).toEqual([400, undefined])
  })
})
