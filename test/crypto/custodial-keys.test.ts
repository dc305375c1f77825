import { randomBytes } from "node:crypto"
import { ed25519, ristretto255 } from "@noble/curves/ed25519.js"
import { Effect, Layer, Redacted } from "effect"
import { expect, test } from "vitest"
import { CustodialKeys } from "../../src/crypto/custodial-keys.ts"
import { Seal } from "../../src/crypto/envelope-encryption.ts"
import type { NamedKey } from "../../src/crypto/key-ring.ts"
import { checkPubkey, pubkeySigned } from "../../src/keys/pubkeys.ts"

const key = (id: string): NamedKey => ({ id, secret: Redacted.make(randomBytes(32).toString("base64")) })
const [one, two] = [key("one"), key("two")]
const run = <A, E>(
  body: (keys: CustodialKeys["Service"]) => Effect.Effect<A, E>,
  keys: ReadonlyArray<NamedKey> = [one],
) =>
  Effect.runPromise(
    CustodialKeys.use(body).pipe(Effect.provide(Layer.provide(CustodialKeys.layer, Seal.layer({ keys })))),
  )
const message = randomBytes(32)

test("a signature by a generated key is valid for this service and for another implementation", async () => {
  const wallet = await run(({ make }) => make)
  expect(await Effect.runPromise(checkPubkey(wallet.pubkey))).toBe(wallet.pubkey)
  const signature = await run(({ sign }) => sign(wallet, message))
  expect(signature).toMatch(/^[0-9a-f]{128}$/)
  expect(pubkeySigned(wallet.pubkey, message, signature)).toBe(true)
  const strict = { zip215: false }
  const [bytes, pubkey] = [Buffer.from(signature, "hex"), Buffer.from(wallet.pubkey, "hex")]
  expect(ed25519.verify(bytes, message, pubkey, strict)).toBe(true)
})

test("ten generated keys are all different", async () => {
  const wallets = await run(({ make }) => Effect.all(Array.from({ length: 10 }, () => make)))
  expect(new Set(wallets.flatMap(({ pubkey, sealedKey }) => [pubkey, sealedKey])).size).toBe(20)
})

test("the pubkey of every generated key is also the encoding of a Ristretto255 point", async () => {
  const wallets = await run(({ make }) => Effect.all(Array.from({ length: 10 }, () => make)))
  for (const { pubkey } of wallets) expect(ristretto255.Point.fromHex(pubkey).toHex()).toBe(pubkey)
})

test("the encrypted private key of one pubkey cannot be used to sign for another pubkey", async () => {
  const [mine, theirs] = await run(({ make }) => Effect.all([make, make]))
  const broken = await run(({ sign }) => Effect.flip(sign({ ...mine, sealedKey: theirs.sealedKey }, message)))
  expect(broken).toMatchObject({ _tag: "SealBroken", reason: "rejected" })
})

test("a key that was encrypted again with a new master key can sign without the old master key", async () => {
  const wallet = await run(({ make }) => make)
  const sealedKey = await run(({ reseal }) => reseal(wallet), [two, one])
  const signature = await run(({ sign }) => sign({ ...wallet, sealedKey }, message), [two])
  expect(pubkeySigned(wallet.pubkey, message, signature)).toBe(true)
})
