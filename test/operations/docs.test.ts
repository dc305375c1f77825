import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { openApi } from "../../src/http/openapi.ts"
import { decoder } from "../../src/http/request/decode.ts"
import { docsPage } from "../../src/operations/docs.ts"
import type { Operation, Shapes } from "../../src/operations/docs-document.ts"
import { curlLine, exampleOf } from "../../src/operations/docs-example.ts"
import { routes } from "../../src/routes.ts"

const document = openApi(routes, ["http://localhost:3001"])
const shapes = document.components.schemas as Shapes
const text = String(docsPage(document).raw)
const operations = Object.values(document.paths).flatMap(
  (methods) => Object.values(methods) as Array<Operation>,
)
const operationOf = (id: string) => operations.find(({ operationId }) => operationId === id)!

describe("the API reference", () => {
  it("contains every operation, and every schema that its links refer to", () => {
    for (const { operationId } of operations) expect(text).toContain(`id="${operationId}"`)
    const named = [...text.matchAll(/href="#schema-([^"]+)"/g)].map(([, name]) => name!)
    expect(named.length).toBeGreaterThan(100)
    for (const name of new Set(named)) expect(text).toContain(`id="schema-${name}"`)
  })

  it("contains no unresolved reference", () => {
    expect(text).not.toContain("$ref")
    expect(text).not.toContain("[object Object]")
    expect(text).not.toContain("undefined")
  })

  it.each(
    routes
      .filter((row) => row.body !== undefined && !row.rawBody && !row.internal)
      .map((row) => [row.id, row] as const),
  )("shows an example body that the operation %s accepts", (id, row) => {
    const { schema } = operationOf(id).requestBody!.content["application/json"]!
    const decoded = decoder(row.body!, "body")(exampleOf(schema, shapes))
    expect(Result.isSuccess(decoded) ? undefined : decoded.failure.message).toBeUndefined()
  })
})

describe("the curl example", () => {
  const line = (method: string, path: string) =>
    curlLine(method, path, (document.paths[path] as Record<string, Operation>)[method]!, shapes)

  it("contains `-X` only if curl would use another method by default", () => {
    expect(line("get", "/emoji_id/{emoji_id}")).toBe("curl $B/emoji_id/🚀🌊🔥")
    expect(line("post", "/cart/checkout")).toBe(
      `curl $B/cart/checkout -H "Authorization: Bearer $A" -H "Content-Type: application/json" -d '{"method":"Free"}'`,
    )
    expect(line("delete", "/cart")).toBe('curl -X DELETE $B/cart -H "Authorization: Bearer $A"')
  })

  it("URL-encodes query parameters and form fields", () => {
    expect(line("get", "/emoji_id/search")).toContain(
      "curl -G $B/emoji_id/search --data-urlencode 'emoji_id=🦊🎧🐙🚀'",
    )
    expect(line("post", "/token")).toContain("--data-urlencode 'grant_type=authorization_code'")
  })
})
