import { Effect, Redacted } from "effect"
import { expect, it } from "vitest"
import { makeKeyRing } from "../../../src/crypto/key-ring.ts"
import { SandboxNames } from "../../../src/orders/payments/sandbox-names.ts"

const key = (id: string) => ({ id, secret: Redacted.make(Buffer.alloc(32, id).toString("base64url")) })
const namesBy = (...ids: ReadonlyArray<string>) =>
  new SandboxNames(Effect.runSync(makeKeyRing(ids.map(key), "sandbox-webhook")))

it("`SandboxNames` computes the same ids for the same intent, and different ids for another intent", () => {
  const once = namesBy("a").of("order:1:500")
  expect(namesBy("a").of("order:1:500")).toEqual(once)
  const { intentId, invoiceId, secretKey, sessionId } = namesBy("a").of("order:2:500")
  expect(secretKey).toBe("a")
  expect([intentId, invoiceId, sessionId]).not.toContain(once.intentId)
  expect(invoiceId).not.toBe(once.invoiceId)
  expect(sessionId).not.toBe(once.sessionId)
})

it("`SandboxNames` computes ids and a secret that depend on the key, and the ids do not contain the secret", () => {
  const ours = namesBy("a").of("order:1:500")
  expect(namesBy("b").of("order:1:500").intentId).not.toBe(ours.intentId)
  const secret = namesBy("a").secretOf(ours)
  expect(namesBy("b").secretOf(ours)).not.toBe(secret)
  const hidden = secret.slice(secret.lastIndexOf("_") + 1)
  expect(hidden).toMatch(/^[0-9a-f]{32}$/)
  expect(`${ours.intentId} ${ours.sessionId} ${ours.invoiceId}`).not.toContain(hidden)
})

it("`SandboxNames` computes the same secret after a new key is added, as long as the original key is configured", () => {
  const ours = namesBy("a").of("order:1:500")
  const secret = namesBy("a").secretOf(ours)
  expect(namesBy("b", "a").secretOf(ours)).toBe(secret)
  expect(namesBy("b").secretOf(ours)).not.toBe(secret)
})
