import { Effect } from "effect"
import { expect, test } from "vitest"
import { apiKeyMatches, makeApiKey, parseApiKey } from "../../../src/accounts/api-keys/secrets.ts"

const made = Effect.runSync(makeApiKey)
const parts = parseApiKey(made.text)!

test("a created key parses into its id and a secret that matches its hash", () => {
  expect(made.text).toBe(`svc_${made.id}_${parts.secret}`)
  expect(parts.id).toBe(made.id)
  expect(apiKeyMatches(made.hash, parts.secret)).toBe(true)
})

test("the stored values do not contain the secret", () => {
  expect(made.id + made.hash).not.toContain(parts.secret)
})

test("the secret of another key, a changed secret and a damaged hash do not match", () => {
  const other = parseApiKey(Effect.runSync(makeApiKey).text)!
  expect(apiKeyMatches(made.hash, other.secret)).toBe(false)
  expect(
    apiKeyMatches(made.hash, `${parts.secret.slice(0, -1)}${parts.secret.endsWith("0") ? "1" : "0"}`),
  ).toBe(false)
  for (const stored of ["", "AAAA", `${made.hash}AAAA`])
    expect(apiKeyMatches(stored, parts.secret)).toBe(false)
})

test("200 created keys have different ids and secrets", () => {
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
])("%j is not an API key", (text) => {
  expect(parseApiKey(text)).toBeUndefined()
})
