import { secp256k1 } from "@noble/curves/secp256k1.js"
import { keccak_256 } from "@noble/hashes/sha3.js"
import { type EthAddress, ethAddressOf } from "./eth-address.ts"

/**
 * Returns the hash that `personal_sign` signs (EIP-191, version E). Because of the prefix, a signed message can never
 * be a valid transaction.
 */
const messageHash = (message: Uint8Array) =>
  keccak_256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${message.length}`), message]))

/** Signs a message like `personal_sign`. Returns `0x` and 65 bytes in hex: r, s and v (27 or 28). */
export const signEthMessage = (message: Uint8Array, secretKey: Uint8Array): string => {
  const options = { prehash: false, format: "recovered" } as const
  const [recovery = 0, ...rs] = secp256k1.sign(messageHash(message), secretKey, options)
  return `0x${Buffer.from([...rs, recovery + 27]).toString("hex")}`
}

/**
 * Returns the address that signed the message; undefined if the signature is malformed. v may also be 0 or 1, which
 * some wallets send. A signature with a high s is rejected, so that each signature has only one valid form.
 */
export const recoverEthSigner = (message: Uint8Array, signature: string): EthAddress | undefined => {
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return undefined
  const bytes = Buffer.from(signature.slice(2), "hex")
  const v = bytes[64]!
  const recovery = v >= 27 ? v - 27 : v
  if (recovery > 1) return undefined
  try {
    const rs = secp256k1.Signature.fromBytes(bytes.subarray(0, 64), "compact")
    if (rs.hasHighS()) return undefined
    const point = rs.addRecoveryBit(recovery).recoverPublicKey(messageHash(message))
    return ethAddressOf(point.toBytes())
  } catch {
    // The noble library throws if r or s is out of range, or if r is not the x coordinate of a point of the curve.
    return undefined
  }
}
