import { secp256k1 } from "@noble/curves/secp256k1.js"
import { keccak_256 } from "@noble/hashes/sha3.js"
import { type Brand, Data, Effect } from "effect"

/** An Ethereum account address in EIP-55 form: the case of its letters is a checksum of the address. */
export type EthAddress = Brand.Branded<string, "EthAddress">

export class EthAddressInvalid extends Data.TaggedError("EthAddressInvalid")<{
  readonly reason: "malformed" | "checksum"
}> {}

const checksummed = (digits: string): EthAddress => {
  const hash = Buffer.from(keccak_256(Buffer.from(digits))).toString("hex")
  let address = "0x"
  for (let i = 0; i < digits.length; i++) {
    address += Number.parseInt(hash[i]!, 16) > 7 ? digits[i]!.toUpperCase() : digits[i]
  }
  return address as EthAddress
}

/** Parses an address in EIP-55 form or in lower case, and returns it in EIP-55 form. */
export const checkEthAddress = Effect.fnUntraced(function* (text: string) {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return yield* new EthAddressInvalid({ reason: "malformed" })
  const digits = text.slice(2)
  const address = checksummed(digits.toLowerCase())
  if (text !== address && digits !== digits.toLowerCase()) {
    return yield* new EthAddressInvalid({ reason: "checksum" })
  }
  return address
})

export const ethAddressOf = (publicKey: Uint8Array): EthAddress => {
  const coordinates = secp256k1.Point.fromBytes(publicKey).toBytes(false).subarray(1)
  return checksummed(Buffer.from(keccak_256(coordinates).subarray(-20)).toString("hex"))
}
