import { randomBytes } from "node:crypto"
import { inspect } from "node:util"
import { Effect, Redacted } from "effect"
import { expect, test } from "vitest"
import { makeKeyRing } from "../../src/crypto/key-ring.ts"

const secret = randomBytes(32).toString("base64")
const key = (id: string, text = secret) => ({ id, secret: Redacted.make(text) })
const failure = (keys: ReadonlyArray<ReturnType<typeof key>>) =>
  Effect.runPromise(Effect.flip(makeKeyRing(keys, "test")))

test("the first key of a key ring is the current key, and all keys can be found by their ids", async () => {
  const ring = await Effect.runPromise(
    makeKeyRing([key("new"), key("old", randomBytes(32).toString("base64url"))], "test"),
  )
  expect(ring.currentId).toBe("new")
  expect(ring.all.get("new")).toBe(ring.current)
  expect([...ring.all.keys()]).toEqual(["new", "old"])
})

test("one secret gives different keys for two purposes, and the same key for the same purpose", async () => {
  const [seal, tokens, again] = await Effect.runPromise(
    Effect.all(["seal", "tokens", "seal"].map((purpose) => makeKeyRing([key("k")], purpose))),
  )
  expect(seal!.current.equals(tokens!.current)).toBe(false)
  expect(seal!.current.equals(again!.current)).toBe(true)
})

test("an invalid list of keys is rejected with an error that does not show a secret", async () => {
  expect(await failure([])).toMatchObject({ reason: "empty" })
  expect(await failure([key("a.b")])).toMatchObject({ reason: "id_malformed" })
  expect(await failure([key("a"), key("a")])).toMatchObject({ keyId: "a", reason: "id_repeated" })
  const short = randomBytes(16).toString("base64")
  const refused = await failure([key("a", short)])
  expect(refused).toMatchObject({ keyId: "a", reason: "secret_malformed" })
  expect(inspect(refused, { depth: 9 }) + JSON.stringify(refused)).not.toContain(short)
})

test("printing a key ring does not show its keys", async () => {
  const ring = await Effect.runPromise(makeKeyRing([key("a")], "test"))
  const printed = inspect(ring, { depth: 9 }) + JSON.stringify(ring)
  expect(printed).not.toContain(secret)
  expect(printed).not.toContain(ring.current.export().toString("hex"))
})
