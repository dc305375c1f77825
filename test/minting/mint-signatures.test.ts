import { inspect } from "node:util"
import { Effect, Redacted } from "effect"
import { expect, test } from "vitest"
import { checkEthAddress } from "../../src/keys/eth-address.ts"
import { MintSignatures, mintDigest } from "../../src/minting/mint-signatures.ts"

/**
 * The first two test accounts of Hardhat, whose private keys are public: the first one signs, the second one is
 * `account`.
 */
const hardhatKey = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
const signer = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
const account = Effect.runSync(checkEthAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8"))
const mint = { token: "🐙🌊", account, expirySeconds: 1_900_000_000 }

/**
 * Digest and signature were computed with a separate implementation of Keccak, RFC 6979 and `abi.encodePacked`. It was
 * checked against the example of web3.js.
 */
const digest = "1827d03ae614ee1d3a3e637df2929b57296a5c02511b7bcd447e959eb83931e0"
const signature =
  "0x44533b402062c26ae6362e39ad37be9940ab732a99dfa161fd1a8cea2f1675e97a563989d60a23682578147dc32ca59d5a30e124cfc3eb96eec7d2439f50594c1b"

const layer = (key: string) => MintSignatures.layer({ key: Redacted.make(key) })
const signatures = await Effect.runPromise(
  MintSignatures.use(Effect.succeed).pipe(Effect.provide(layer(hardhatKey))),
)

test("the signer of mint permissions is the address of the configured key", () => {
  expect(Effect.runSync(signatures.signer)).toBe(signer)
})

test("the digest and the signature of a mint permission equal those of a separate implementation", () => {
  expect(Buffer.from(mintDigest(mint)).toString("hex")).toBe(digest)
  expect(signatures.sign(mint)).toBe(signature)
})

test("the signer is recovered only with the token, account and expiry that were signed", () => {
  expect(signatures.recover(mint, signature)).toBe(signer)
  expect(signatures.recover({ ...mint, token: "🐙" }, signature)).not.toBe(signer)
  expect(signatures.recover({ ...mint, account: Effect.runSync(signatures.signer) }, signature)).not.toBe(
    signer,
  )
  expect(signatures.recover({ ...mint, expirySeconds: 1_900_000_001 }, signature)).not.toBe(signer)
  expect(signatures.recover(mint, "0x")).toBeUndefined()
})

test("signing throws a RangeError if the expiry is not a Unix time in seconds", () => {
  for (const expirySeconds of [-1, 1.5, Number.NaN, 2 ** 60]) {
    expect(() => signatures.sign({ ...mint, expirySeconds })).toThrow(RangeError)
  }
})

test.each(["", "0x", "ac09", "00".repeat(32), "ff".repeat(32), "zz".repeat(32)])(
  "the private key $0 is rejected, and the error does not contain the key",
  async (key) => {
    const refused = await Effect.runPromise(
      Effect.flip(MintSignatures.use(Effect.succeed)).pipe(
        Effect.provide(layer(key)),
        Effect.catchTag("MintKeyInvalid", Effect.succeed),
      ),
    )
    expect(refused).toMatchObject({ _tag: "MintKeyInvalid" })
    if (key.length > 8) expect(inspect(refused)).not.toContain(key)
  },
)
