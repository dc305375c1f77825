import { generateKeyPairSync, sign } from "node:crypto"
import { ed25519 } from "@noble/curves/ed25519.js"
import { Effect } from "effect"
import { expect, test } from "vitest"
import { activationMessage, checkPubkey, pubkeySigned } from "../../src/keys/pubkeys.ts"

/** The values of test 2 in section 7.1 of RFC 8032. The message is one byte, 0x72. */
const rfc = {
  pubkey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
  message: Buffer.from("72", "hex"),
  signature:
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
}
const refusal = (text: string) => Effect.runSync(Effect.flip(checkPubkey(text))).reason

test("the RFC 8032 example signature is valid only if message, pubkey and signature are unchanged", () => {
  expect(pubkeySigned(rfc.pubkey, rfc.message, rfc.signature)).toBe(true)
  expect(pubkeySigned(rfc.pubkey, rfc.message, rfc.signature.toUpperCase())).toBe(true)
  expect(pubkeySigned(rfc.pubkey, Buffer.from("73", "hex"), rfc.signature)).toBe(false)
  expect(pubkeySigned(rfc.pubkey, rfc.message, rfc.signature.replace("92", "93"))).toBe(false)
  const stranger = Buffer.from(ed25519.keygen().publicKey).toString("hex")
  expect(pubkeySigned(stranger, rfc.message, rfc.signature)).toBe(false)
})

test("pubkeySigned returns false and does not throw if the pubkey or the signature is malformed", () => {
  for (const pubkey of ["", "00", "zz".repeat(32), "ff".repeat(32), `0x${rfc.pubkey}`]) {
    expect(pubkeySigned(pubkey, rfc.message, rfc.signature)).toBe(false)
  }
  for (const signature of ["", "00", rfc.signature.slice(2), `${rfc.signature}00`, "zz".repeat(64)]) {
    expect(pubkeySigned(rfc.pubkey, rfc.message, signature)).toBe(false)
  }
})

test("a signature whose scalar is increased by the group order is rejected", () => {
  const order = ed25519.Point.Fn.ORDER
  const scalar = BigInt(`0x${Buffer.from(rfc.signature.slice(64), "hex").reverse().toString("hex")}`) + order
  const raised = Buffer.from(scalar.toString(16).padStart(64, "0"), "hex").reverse().toString("hex")
  expect(pubkeySigned(rfc.pubkey, rfc.message, rfc.signature.slice(0, 64) + raised)).toBe(false)
})

test("checkPubkey returns a pubkey in lower case", () => {
  expect(Effect.runSync(checkPubkey(rfc.pubkey))).toBe(rfc.pubkey)
  expect(Effect.runSync(checkPubkey(rfc.pubkey.toUpperCase()))).toBe(rfc.pubkey)
})

test.each(["", "3d", `0x${rfc.pubkey}`, ` ${rfc.pubkey}`, `${rfc.pubkey}00`, "g".repeat(64)])(
  "the pubkey %j is rejected as malformed",
  (text) => {
    expect(refusal(text)).toBe("malformed")
  },
)

test("a pubkey that is not a point of the curve is rejected", () => {
  expect(refusal(`02${"00".repeat(31)}`)).toBe("not_on_curve")
  expect(refusal("ff".repeat(32))).toBe("not_on_curve")
})

test("a pubkey of small order is rejected, because one signature would be valid for every message", () => {
  const identity = `01${"00".repeat(31)}`
  const orderEight = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"
  for (const pubkey of [identity, orderEight, "00".repeat(32)]) {
    expect(refusal(pubkey)).toBe("not_on_curve")
    expect(pubkeySigned(pubkey, Buffer.from("any"), identity + "00".repeat(32))).toBe(false)
  }
})

test("a pubkey with a small-order component is rejected", () => {
  const mixed = ed25519.Point.BASE.add(
    ed25519.Point.fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
  )
  expect(refusal(mixed.toHex())).toBe("not_on_curve")
})

test("the activation message is the Blake2b-256 hash of the alternate id and the nonce", () => {
  // This value was computed with Python: hashlib.blake2b("device-7🐙nonce-1".encode(), digest_size=32)
  const expected = "4bfeeb5f22ea42c1ad136abad188cc95398baa05d713f27c6f15d0171f63a73f"
  const message = activationMessage("device-7🐙", "nonce-1")
  expect(Buffer.from(message).toString("hex")).toBe(expected)

  const { publicKey, privateKey } = generateKeyPairSync("ed25519")
  const pubkey = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex")
  const signature = sign(null, message, privateKey).toString("hex")
  expect(pubkeySigned(pubkey, activationMessage("device-7🐙", "nonce-1"), signature)).toBe(true)
  expect(pubkeySigned(pubkey, activationMessage("device-8🐙", "nonce-1"), signature)).toBe(false)
  expect(pubkeySigned(pubkey, activationMessage("device-7🐙", "nonce-2"), signature)).toBe(false)
})
