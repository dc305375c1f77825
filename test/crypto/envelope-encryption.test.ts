import { randomBytes } from "node:crypto"
import { Effect, Redacted } from "effect"
import { expect, test } from "vitest"
import { Seal, type SealBroken } from "../../src/crypto/envelope-encryption.ts"
import type { NamedKey } from "../../src/crypto/key-ring.ts"

const key = (id: string): NamedKey => ({ id, secret: Redacted.make(randomBytes(32).toString("base64")) })
const [one, two] = [key("one"), key("two")]
const run = <A, E>(keys: ReadonlyArray<NamedKey>, body: (seal: Seal["Service"]) => Effect.Effect<A, E>) =>
  Effect.runPromise(Seal.use(body).pipe(Effect.provide(Seal.layer({ keys }))))
const sealed = (keys: ReadonlyArray<NamedKey>, plaintext: string | Uint8Array, aad: string) =>
  run(keys, ({ seal }) => seal(Buffer.from(plaintext), aad))
const refusal = (keys: ReadonlyArray<NamedKey>, text: string, aad: string) =>
  run(keys, ({ open }) => Effect.flip(open(text, aad))).then((broken: SealBroken) => broken.reason)

test("an encrypted secret can be decrypted, even if it is empty or has the maximum length", async () => {
  for (const plaintext of [Buffer.alloc(0), Buffer.from("JBSWY3DPEHPK3PXP"), randomBytes(65_536)]) {
    const text = await sealed([one], plaintext, "totp/user-1")
    expect(text).toMatch(/^v1\.one\.[\w-]{80}\.[\w-]{38,}$/)
    expect(plaintext.equals(await run([one], ({ open }) => open(text, "totp/user-1")))).toBe(true)
  }
})

test("encrypting the same secret 20 times gives 20 different texts", async () => {
  const texts = await Promise.all(Array.from({ length: 20 }, () => sealed([one], "secret", "a")))
  expect(new Set(texts.flatMap((text) => text.split(".").slice(2))).size).toBe(40)
})

test("a text that was encrypted for one owner cannot be decrypted for another owner", async () => {
  expect(await refusal([one], await sealed([one], "secret", "totp/user-1"), "totp/user-2")).toBe("rejected")
})

test("a text cannot be decrypted with a different key that has the same id", async () => {
  expect(await refusal([key("one")], await sealed([one], "secret", "a"), "a")).toBe("rejected")
})

test("decrypting a text whose master key was removed fails with `key_unknown`", async () => {
  expect(await refusal([two], await sealed([one], "secret", "a"), "a")).toBe("key_unknown")
})

test("decryption fails if any character of the wrapped key or of the ciphertext was changed", async () => {
  const text = await sealed([one], "some secret of 27 bytes !!", "a")
  for (let at = text.indexOf(".", 3) + 1; at < text.length; at++) {
    if (text[at] === ".") continue
    // The last character of a part may contain padding bits. If a change affects only padding bits, the decoded bytes
    // are the same, so this case is skipped.
    const changed = `${text.slice(0, at)}${text[at] === "A" ? "Q" : "A"}${text.slice(at + 1)}`
    const same = changed
      .split(".")
      .every((part, i) =>
        Buffer.from(part, "base64url").equals(Buffer.from(text.split(".")[i]!, "base64url")),
      )
    if (!same) expect(await refusal([one], changed, "a")).toBe("rejected")
  }
})

test("the ciphertext of one secret cannot be decrypted with the wrapped key of another secret", async () => {
  const [a, b] = await Promise.all([sealed([one], "first", "a"), sealed([one], "other", "a")])
  const mixed = [...a.split(".").slice(0, 3), b.split(".")[3]].join(".")
  expect(await refusal([one], mixed, "a")).toBe("rejected")
})

test.each(["", "v1", "v1.one", "v1.one..", "v2.one.x.y", "v1.one.x.y", `v1.one.${"A".repeat(200_000)}.A`])(
  "decrypting a text that does not have the expected format fails with `malformed` (example %$)",
  async (text) => {
    expect(await refusal([one], text, "a")).toBe("malformed")
  },
)

test("a change of the master key re-encrypts only the data key, and then the old master key is no longer needed", async () => {
  const old = await sealed([one], "secret", "a")
  const renewed = await run([two, one], (seal) => {
    expect(seal.isStale(old)).toBe(true)
    return seal.reseal(old, "a")
  })
  expect(renewed).toMatch(/^v1\.two\./)
  expect(renewed.split(".")[3]).toBe(old.split(".")[3])
  expect((await run([two], ({ open }) => open(renewed, "a"))).toString()).toBe("secret")
  await run([two, one], (seal) => {
    expect(seal.isStale(renewed)).toBe(false)
    return Effect.map(seal.reseal(renewed, "a"), (again) => expect(again).toBe(renewed))
  })
})

test("a text cannot be re-encrypted for another owner", async () => {
  const old = await sealed([one], "secret", "a")
  const broken = await run([two, one], ({ reseal }) => Effect.flip(reseal(old, "b")))
  expect(broken.reason).toBe("rejected")
})
