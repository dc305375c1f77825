import { Effect } from "effect"
import { expect, test } from "vitest"
import { apiKeyMatches, makeApiKey, parseApiKey } from "../../../src/accounts/api-keys/secrets.ts"

const made = Effect.runSync(makeApiKey)
const parts = parseApiKey(made.text)!

test("parsing a created API key returns its id and a secret that matches the stored hash", () => {
  expect(made.text).toBe(`svc_${made.id}_${parts.secret}`)
  expect(parts.id).toBe(made.id)
  expect(apiKeyMatches(made.hash, parts.secret)).toBe(true)
})

test("the stored id and hash of an API key do not contain its secret", () => {
  expect(made.id + made.hash).not.toContain(parts.secret)
})

test("the secret of an API key does not match a damaged hash, and the hash does not match other secrets", () => {
  const other = parseApiKey(Effect.runSync(makeApiKey).text)!
  expect(apiKeyMatches(made.hash, other.secret)).toBe(false)
  expect(
    apiKeyMatches(made.hash, `${parts.secret.slice(0, -1)}${parts.secret.endsWith("0") ? "1" : "0"}`),
  ).toBe(false)
  for (const stored of ["", "AAAA", `${made.hash}AAAA`])
    expect(apiKeyMatches(stored, parts.secret)).toBe(false)
})

test("200 created API keys have different ids and secrets", () => {
  const keys = Array.from({ length: 200 }, () => parseApiKey(Effect.runSync(makeApiKey).text)!)
  expect(new Set(keys.flatMap(({ id, secret }) => [id, secret])).size).toBe(400)
})

test.each([
  "",
  "svc__",
  made.id,
  made.text.toUpperCase(),
  ` ${made.text}`,
  `${made.text}\n`,
  `${made.text}0`,
  made.text.slice(0, -1),
  made.text.replace("svc_", "svd_"),
  made.text.replace(made.id, `${made.id.slice(0, -1)}u`),
  made.text.replace(/_/g, "-"),
])("the text %j is not parsed as an API key", (text) => {
  expect(parseApiKey(text)).toBeUndefined()
})
