import { describe, expect, it } from "vitest"
import type { RawAnswer } from "./connection.ts"
import { anonymous, type Draft, methodOf } from "./draft.ts"
import { injectedHeader, markup } from "./hostile.ts"
import { operations } from "./operations.ts"
import { faultOf } from "./oracle.ts"

const secret = "a-secret-of-the-service"
const draftOf = (operation: string): Draft => {
  const { row } = operations.get(operation)!
  return { row, caller: anonymous, method: methodOf(row), params: {}, query: [], headers: {} }
}
const json: RawAnswer["headers"] = [
  ["x-request-id", "r-1"],
  ["content-type", "application/json"],
]
const html: RawAnswer["headers"] = [
  ["x-request-id", "r-1"],
  ["content-type", "text/html; charset=utf-8"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["referrer-policy", "no-referrer"],
  ["x-content-type-options", "nosniff"],
]
const answer = (status: number, body: unknown, headers = json): RawAnswer => ({
  status,
  headers: status < 400 ? headers : [...headers, ["x-error-code", "any"]],
  body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
})
const problem = { error: "Not found.", code: "not_found", request_id: "r-1" }

describe("the oracle of the fuzzer", () => {
  it.each([
    ["health", answer(200, { status: "ok" })],
    ["getAccount", answer(401, { ...problem, code: "unauthorized" })],
    ["lookupEmojiID", answer(404, { error: "Not registered." })],
    [
      "deleteApiKey",
      answer(404, { ...problem, request_id: "r-0" }, [...json, ["idempotent-replayed", "true"]]),
    ],
    ["console", answer(200, "<!doctype html><p>&lt;fz</p>", html)],
    ["callProxy", answer(503, problem, [...json, ["retry-after", "1"]])],
  ])("accepts a correct response of %s", (operation, given) => {
    expect(faultOf(draftOf(operation), given, [secret])).toBeUndefined()
  })

  it.each([
    ["a server error", "health", answer(500, problem), "status 500"],
    ["a 503 without Retry-After", "health", answer(503, problem), "Retry-After"],
    ["a status that the operation does not declare", "getAccount", answer(409, problem), "undeclared"],
    ["a success without credentials", "getAccount", answer(200, {}), "without credentials"],
    [
      "a response without X-Request-Id",
      "health",
      answer(200, {}, [["content-type", "application/json"]]),
      "X-Request-Id",
    ],
    [
      "an error without X-Error-Code",
      "getAccount",
      { ...answer(401, { ...problem, code: "unauthorized" }), headers: json },
      "X-Error-Code",
    ],
    ["a body that does not match its schema", "emojiList", answer(200, { a: 1 }), "schema"],
    ["an error without a code", "getAccount", answer(401, { error: "x", request_id: "r-1" }), "code"],
    [
      "an error with another request id",
      "getAccount",
      answer(401, { ...problem, request_id: "r-2" }),
      "request id",
    ],
    ["a 422 without fields", "createUser", answer(422, problem), "fields"],
    [
      "a stack trace",
      "createUser",
      answer(400, { ...problem, error: "x at f (/app/src/a.ts:1:2)" }),
      "internal",
    ],
    [
      "an error of Postgres",
      "createUser",
      answer(400, { ...problem, error: 'duplicate key value "x"' }),
      "internal",
    ],
    ["a secret", "getAccount", answer(401, { ...problem, error: secret }), "secret"],
    ["a header from the request", "health", answer(200, {}, [...json, [injectedHeader, "yes"]]), "injected"],
    [
      "a redirect to another host",
      "authorize",
      answer(302, "", [...json, ["location", "//evil.example"]]),
      "redirect",
    ],
    ["a text that a page does not encode", "console", answer(200, `<p>${markup}</p>`, html), "encoding"],
    ["an inline script", "console", answer(200, "<script>x()</script>", html), "inline script"],
    [
      "a page without a policy",
      "console",
      answer(200, "<p></p>", json.slice(0, 1).concat(html.slice(1, 2))),
      "policy",
    ],
    ["a body that is not JSON", "health", answer(200, "{"), "not JSON"],
  ])("reports %s", (_what, operation, given, reported) => {
    expect(faultOf(draftOf(operation), given, [secret])).toContain(reported)
  })
})
