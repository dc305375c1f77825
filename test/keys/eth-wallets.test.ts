import { Effect } from "effect"
import { expect, test } from "vitest"
import { EthWallets } from "../../src/keys/eth-wallets.ts"

const userId = "0b0e7a52-6c1f-4f5b-9a55-6f1d2c3b4a59"
/**
 * The first test account of Hardhat, whose private key is public. The signatures were made with a separate
 * implementation, which was checked against web3.js.
 */
const address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
const signed = {
  Mint: "0xfb6300f1b4a53a6a055dd19176f48a0861d5f5efe1c8eea632749168b00ea9aa0e50bcec15092519aa5e6458aa3fd4770531a26d2aa9c7589751b0de9f598e171c",
  Dashboard:
    "0xcd85e1111411845df5b212c00831e53cba6212eac371a46a1bbe1099824e2c5e31549a369a6d5f670fdb932922bbf6287fe20fbdf87a8568a9641bb0a039a3431c",
} as const
const wallets = Effect.runSync(
  EthWallets.use(Effect.succeed).pipe(
    Effect.provide(EthWallets.layer({ serviceName: "Emoji Id Directory" })),
  ),
)

test("the challenge for linking a wallet contains the service name, the user id and the source", () => {
  expect(wallets.challenge(userId, "Mint")).toBe(
    `Emoji Id Directory asks you to link this wallet.\n\nUser: ${userId}\nSource: Mint`,
  )
})

test.each(["Mint", "Dashboard"] as const)(
  "the address of the wallet is recovered from a signature for the source `%s`",
  (source) => {
    expect(Effect.runSync(wallets.recover(userId, source, signed[source]))).toBe(address)
  },
)

test("the address of the wallet is not recovered from a signature for another source or user", () => {
  const other = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
  expect(Effect.runSync(Effect.exit(wallets.recover(userId, "Dashboard", signed.Mint)))).not.toMatchObject({
    value: address,
  })
  expect(Effect.runSync(Effect.exit(wallets.recover(other, "Mint", signed.Mint)))).not.toMatchObject({
    value: address,
  })
})

test("an invalid signature of the challenge is rejected", () => {
  for (const signature of ["", "0x", signed.Mint.slice(2), `0x${"00".repeat(65)}`]) {
    const refused = Effect.runSync(Effect.flip(wallets.recover(userId, "Mint", signature)))
    expect(refused._tag).toBe("WalletSignatureInvalid")
  }
})
