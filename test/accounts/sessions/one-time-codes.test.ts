import { randomBytes } from "node:crypto"
import { Effect, Redacted } from "effect"
import { expect, test } from "vitest"
import {
  type CodeContext,
  OneTimeCodes,
  readBackupCode,
} from "../../../src/accounts/sessions/one-time-codes.ts"
import type { NamedKey } from "../../../src/crypto/key-ring.ts"

const key = (id: string): NamedKey => ({ id, secret: Redacted.make(randomBytes(32).toString("base64")) })
const [one, two] = [key("one"), key("two")]
const codesWith = (...keys: ReadonlyArray<NamedKey>) =>
  Effect.runPromise(OneTimeCodes.use(Effect.succeed).pipe(Effect.provide(OneTimeCodes.layer({ keys }))))
const draw = <A>(count: number, make: Effect.Effect<A>) =>
  Effect.runPromise(Effect.all(Array.from({ length: count }, () => make)))

const transfer: CodeContext = { purpose: "transfer-sender", subject: "transfer-1" }

test("a six-digit code can begin with any digit, including zero", async () => {
  const drawn = await draw(2000, (await codesWith(one)).makeSixDigits)
  for (const code of drawn) expect(code).toMatch(/^\d{6}$/)
  expect(drawn.some((code) => code.startsWith("0"))).toBe(true)
  expect(new Set(drawn.map((code) => code[0])).size).toBe(10)
})

test("opaque tokens are unique and have 256 bits in base64url", async () => {
  const drawn = await draw(200, (await codesWith(one)).makeOpaqueToken)
  for (const token of drawn) expect(token).toMatch(/^[\w-]{43}$/)
  expect(new Set(drawn).size).toBe(200)
})

test("the backup codes of a user are ten different codes of 40 bits without ambiguous letters", async () => {
  const [codes = []] = await draw(1, (await codesWith(one)).makeBackupCodes)
  expect(new Set(codes).size).toBe(10)
  for (const code of codes) {
    expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}$/)
    expect(readBackupCode(code)).toBe(code)
  }
})

test("a backup code is accepted with spaces, capital letters, O instead of 0, and I or L instead of 1", () => {
  for (const typed of ["0a1b-c1d0", "0A1BC1D0", " oAib  cLdO ", "0-a-1-b-c-1-d-0"]) {
    expect(readBackupCode(typed)).toBe("0a1b-c1d0")
  }
  for (const typed of ["", "0a1b-c1d", "0a1b-c1d00", "0a1b-c1du", "0a1b_c1d0", " ".repeat(100)]) {
    expect(readBackupCode(typed)).toBeUndefined()
  }
})

test("a code matches its hash only with the same purpose and subject", async () => {
  const { hash, matches } = await codesWith(one)
  const stored = hash(transfer, "012345")
  expect(matches(stored, transfer, "012345")).toBe(true)
  expect(matches(stored, transfer, "012346")).toBe(false)
  expect(matches(stored, { ...transfer, subject: "transfer-2" }, "012345")).toBe(false)
  expect(matches(stored, { ...transfer, purpose: "transfer-receiver" }, "012345")).toBe(false)
})

test("the hash changes if characters are moved between the subject and the code", async () => {
  const { hash } = await codesWith(one)
  const of = (subject: string, code: string) => hash({ purpose: "email-code", subject }, code)
  expect(of("user-1", "23456")).not.toBe(of("user-12", "3456"))
  expect(of('a","b', "c")).not.toBe(of("a", 'b","c'))
})

test("a code does not match its stored hash if another secret key is used under the same key id", async () => {
  const stored = (await codesWith(one)).hash(transfer, "012345")
  expect(stored).toMatch(/^one\.[\w-]{43}$/)
  const stranger = await codesWith({ ...two, id: "one" })
  expect(stranger.matches(stored, transfer, "012345")).toBe(false)
})

test("after a key rotation, hashes made with the old key still match and can be looked up", async () => {
  const old = (await codesWith(one)).hash({ purpose: "refresh-token" }, "token")
  const rotated = await codesWith(two, one)
  expect(rotated.matches(old, { purpose: "refresh-token" }, "token")).toBe(true)
  const candidates = rotated.lookupHashes({ purpose: "refresh-token" }, "token")
  expect(candidates).toContain(old)
  expect(candidates).toContain(rotated.hash({ purpose: "refresh-token" }, "token"))
  expect((await codesWith(two)).matches(old, { purpose: "refresh-token" }, "token")).toBe(false)
})

test("a code does not match a damaged stored hash", async () => {
  const { matches } = await codesWith(one)
  for (const stored of ["", ".", "one", "one.", "one.AAAA", "two.AAAA"]) {
    expect(matches(stored, transfer, "012345")).toBe(false)
  }
})
