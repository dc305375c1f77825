import { describe, expect, it } from "vitest"
import { readRistrettoKey, ristrettoSigned } from "../../src/keys/ristretto-signatures.ts"
import { forge, groupOrder, makeRistrettoSigner, writeScalar } from "../clients/ristretto-signer.ts"

const identity = "00".repeat(32)
/** The generator and its double in RFC 9496, appendix A.1. */
const generator = "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76"
const twice = "6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919"
/** Encodings that RFC 9496, appendix A.2, requires to be refused. */
const invalid = [
  `00${"ff".repeat(31)}`,
  `${"ff".repeat(31)}7f`,
  `f3${"ff".repeat(30)}7f`,
  `ed${"ff".repeat(30)}7f`,
  `01${"00".repeat(31)}`,
  `ed57ffd8c914fb201471d1c3d245ce3c746fcbe63a3679d51b6a516ebebe0e20`,
  `26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371`,
  `47cfc5497c53dc8e61c91d17fd626ffb1c49e2bca94eed052281b510b1117a24`,
]

describe("a Ristretto255 public key", () => {
  it("is returned in lower case", () => {
    expect(readRistrettoKey(generator.toUpperCase())).toBe(generator)
    expect(makeRistrettoSigner(2n).pubkey).toBe(twice)
  })

  it("is refused if it is the identity, not canonical, not a point, or not 64 hex digits", () => {
    const refused = [identity, ...invalid, "", "ff", `${generator}00`, `0x${generator.slice(2)}`]
    expect(refused.map(readRistrettoKey)).toEqual(refused.map(() => undefined))
  })
})

describe("a Ristretto255 signature", () => {
  const signer = makeRistrettoSigner()
  const signed = signer.sign("device-1")
  const isValid = (change: Partial<typeof signed>, message = "device-1") =>
    ristrettoSigned(change.pubkey ?? signer.pubkey, message, { ...signed, ...change })

  it("is valid for the message that was signed, in upper and lower case hex", () => {
    expect(isValid({})).toBe(true)
    expect(
      isValid({
        pubkey: signed.pubkey.toUpperCase(),
        nonce: signed.nonce.toUpperCase(),
        signature: signed.signature.toUpperCase(),
      }),
    ).toBe(true)
  })

  it("is not valid for another message, another key or another nonce", () => {
    expect(isValid({}, "device-2")).toBe(false)
    expect(isValid({ pubkey: makeRistrettoSigner().pubkey })).toBe(false)
    expect(isValid({ nonce: signer.sign("device-1").nonce })).toBe(false)
  })

  it("is not valid with a scalar that is not below the group order", () => {
    const scalar = BigInt(`0x${Buffer.from(signed.signature, "hex").reverse().toString("hex")}`)
    expect(isValid({ signature: writeScalar(scalar + groupOrder) })).toBe(false)
  })

  it("is not valid with an invalid nonce or with the identity as key", () => {
    expect(invalid.map((nonce) => isValid({ nonce }))).toEqual(invalid.map(() => false))
    expect(isValid({ nonce: "" })).toBe(false)
    expect(isValid({ signature: signed.signature.slice(2) })).toBe(false)
    expect(ristrettoSigned(identity, "device-1", { nonce: generator, signature: writeScalar(1n) })).toBe(
      false,
    )
  })

  it("can be made without the private key, because the challenge does not depend on the nonce", () => {
    const forged = forge(signer.pubkey, "device-3")
    expect(ristrettoSigned(forged.pubkey, "device-3", forged)).toBe(true)
  })

  it("with a scalar or a nonce of zero is checked like any other", () => {
    const zero = { nonce: identity, signature: writeScalar(0n) }
    expect(ristrettoSigned(signer.pubkey, "device-1", zero)).toBe(false)
  })
})
