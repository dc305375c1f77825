import { expect, test } from "vitest"
import { makeTokenCache } from "../../../src/accounts/sessions/token-cache.ts"

test("the token cache never holds more entries than its capacity", () => {
  const cache = makeTokenCache<number>(10)
  for (let i = 0; i < 1000; i++) {
    cache.set(`token-${i}`, i)
    expect(cache.size()).toBeLessThanOrEqual(10)
  }
  expect(cache.get("token-999")).toBe(999)
  expect(cache.get("token-0")).toBeUndefined()
})

test("a token that is used repeatedly stays cached while many other tokens are used once", () => {
  const cache = makeTokenCache<string>(10)
  cache.set("used", "entry")
  for (let i = 0; i < 1000; i++) {
    cache.set(`token-${i}`, "other")
    expect(cache.get("used")).toBe("entry")
  }
})

test("a cached token can be deleted, whether it was added recently or earlier", () => {
  const cache = makeTokenCache<number>(4)
  cache.set("old", 1)
  cache.set("older", 2)
  cache.set("young", 3)
  cache.delete("old")
  cache.delete("young")
  expect([cache.get("old"), cache.get("older"), cache.get("young")]).toEqual([undefined, 2, undefined])
})
