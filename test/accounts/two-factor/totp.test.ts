import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { generateSync } from "otplib"
import { expect, test } from "vitest"
import { Totp } from "../../../src/accounts/two-factor/totp.ts"

/** The secret of the test vectors in RFC 6238, appendix B: the ASCII text 12345678901234567890 in base32. */
const rfcSecret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
const run = <A, E>(atSeconds: number, body: (totp: Totp["Service"]) => Effect.Effect<A, E>) =>
  Effect.runPromise(
    Effect.andThen(TestClock.setTime(atSeconds * 1000), Totp.use(body)).pipe(
      Effect.provide(Layer.merge(Totp.layer({ issuer: "Emoji Id Directory" }), TestClock.layer())),
    ),
  )
const verifyAt = (atSeconds: number, code: string, afterStep?: number, secret = rfcSecret) =>
  run(atSeconds, ({ verify }) => verify(secret, code, afterStep))
const codeAt = (epoch: number) => generateSync({ secret: rfcSecret, epoch })

test.each([
  [59, "287082", 1],
  [1111111109, "081804", 37037036],
  [1234567890, "005924", 41152263],
  [20000000000, "353130", 666666666],
])("at %i seconds, the RFC 6238 code %s is valid and belongs to the time step %i", async (at, code, step) => {
  expect(await verifyAt(at, code)).toBe(step)
})

test("the codes of the current and the previous time step are accepted, older and later codes are not", async () => {
  const now = 1_750_000_010
  const step = Math.floor(now / 30)
  expect(await verifyAt(now, codeAt(now))).toBe(step)
  expect(await verifyAt(now, codeAt(now - 30))).toBe(step - 1)
  expect(await verifyAt(now, codeAt(now - 60))).toBeUndefined()
  expect(await verifyAt(now, codeAt(now + 30))).toBeUndefined()
})

test("the code of the previous time step is accepted until the current time step ends", async () => {
  const start = 1_750_000_020
  expect(start % 30).toBe(0)
  expect(await verifyAt(start, codeAt(start - 1))).toBe(start / 30 - 1)
  expect(await verifyAt(start + 29, codeAt(start - 30))).toBe(start / 30 - 1)
  expect(await verifyAt(start + 30, codeAt(start - 1))).toBeUndefined()
})

test("the codes of the last used time step and of earlier time steps are rejected", async () => {
  const now = 1_750_000_010
  const step = Math.floor(now / 30)
  expect(await verifyAt(now, codeAt(now), step - 1)).toBe(step)
  expect(await verifyAt(now, codeAt(now), step)).toBeUndefined()
  expect(await verifyAt(now, codeAt(now - 30), step - 1)).toBeUndefined()
})

test("if the last used time step is in the future, the current code is rejected without an exception", async () => {
  const now = 1_750_000_010
  expect(await verifyAt(now, codeAt(now), Math.floor(now / 30) + 120)).toBeUndefined()
})

test.each(["", "12345", "1234567", "12345a", "１２３４５６", "-12345", "12 456", "1e5000"])(
  "the malformed code %j is rejected without an exception",
  async (code) => {
    expect(await verifyAt(59, code)).toBeUndefined()
  },
)

test("verifying a code with a damaged secret throws an exception", async () => {
  await expect(verifyAt(59, "287082", undefined, "not base32!")).rejects.toThrow()
})

test("generated secrets are 160 random bits in base32", async () => {
  const secrets = await run(0, ({ makeSecret }) => Effect.all(Array.from({ length: 20 }, () => makeSecret)))
  for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(new Set(secrets).size).toBe(20)
})

test("an enrolment contains an otpauth URI and a safe QR code, whatever characters the label contains", async () => {
  for (const label of ["ann@example.test", "a b&secret=X?#/<script>", "🐙".repeat(500)]) {
    const { uri, qrCodeSvg } = await run(0, (totp) => Effect.succeed(totp.enrolment(rfcSecret, label)))
    const url = new URL(uri)
    expect([url.protocol, url.host]).toEqual(["otpauth:", "totp"])
    expect(url.searchParams.getAll("secret")).toEqual([rfcSecret])
    expect(url.searchParams.get("issuer")).toBe("Emoji Id Directory")
    expect(decodeURIComponent(url.pathname)).toContain(label.slice(0, 20))
    expect(qrCodeSvg).toMatch(/^<svg .*<\/svg>\s*$/s)
    expect(qrCodeSvg).not.toMatch(/script|onload|href/)
  }
})
