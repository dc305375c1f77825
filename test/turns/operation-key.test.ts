import { expect, it } from "vitest"
import { uuidOf } from "../../src/turns/operation-key.ts"

it("`uuidOf` returns fixed UUIDs for given texts, because the ids of stored carts depend on these UUIDs", () => {
  expect(uuidOf("a")).toBe("ca978112-ca1b-8dca-bac2-31b39a23dc4d")
  expect(uuidOf("run", "🚀")).toBe("36f1681e-9d4a-85c3-a4d7-f1f9a41d78b6")
  for (let n = 0; n < 100; n++)
    expect(uuidOf("n", String(n))).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
})
