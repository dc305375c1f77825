import { secp256k1 } from "@noble/curves/secp256k1.js"
import { expect, test } from "vitest"
import { ethAddressOf } from "../../src/keys/eth-address.ts"
import { recoverEthSigner, signEthMessage } from "../../src/keys/eth-message.ts"

/** The values are the example of `accounts.sign` in the web3.js documentation. */
const published = {
  key: Buffer.from("4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318", "hex"),
  address: "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23",
  message: Buffer.from("Some data"),
  signature:
    "0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c",
}

test("the address of the web3.js example key equals the documented address", () => {
  expect(ethAddressOf(secp256k1.getPublicKey(published.key))).toBe(published.address)
})

test("the signature of the web3.js example equals the documented signature, and its signer is recovered", () => {
  expect(signEthMessage(published.message, published.key)).toBe(published.signature)
  expect(recoverEthSigner(published.message, published.signature)).toBe(published.address)
})

test("a signature in which v is 1 instead of 28 is also accepted", () => {
  const signature = `${published.signature.slice(0, -2)}01`
  expect(recoverEthSigner(published.message, signature)).toBe(published.address)
})

test("the address of the signer is not recovered if the message or v is changed", () => {
  expect(recoverEthSigner(Buffer.from("Some date"), published.signature)).not.toBe(published.address)
  const flipped = `${published.signature.slice(0, -2)}1b`
  expect(recoverEthSigner(published.message, flipped)).not.toBe(published.address)
})

test("a signature is rejected if its s is greater than half of the curve order", () => {
  const s = BigInt(`0x${published.signature.slice(66, 130)}`)
  const high = (secp256k1.Point.Fn.ORDER - s).toString(16).padStart(64, "0")
  const twin = `${published.signature.slice(0, 66)}${high}1b`
  expect(recoverEthSigner(published.message, twin)).toBeUndefined()
})

test.each([
  "",
  "0x",
  published.signature.slice(2),
  `${published.signature}00`,
  `${published.signature.slice(0, -2)}1d`,
  `${published.signature.slice(0, -2)}ff`,
  `0x${"00".repeat(64)}1b`,
  `0x${"ff".repeat(64)}1b`,
  `0x${"zz".repeat(65)}`,
])("the invalid signature $0 is rejected (case %$)", (signature) => {
  expect(recoverEthSigner(published.message, signature)).toBeUndefined()
})
