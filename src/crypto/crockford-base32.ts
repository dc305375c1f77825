import { randomBytes } from "node:crypto"

/** Douglas Crockford's base 32: no i, l, o or u, and 32 divides 256, so a byte's low five bits choose evenly. */
export const crockfordAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

export const randomCrockford = (symbols: number) => {
  let text = ""
  for (const byte of randomBytes(symbols)) text += crockfordAlphabet[byte & 31]
  return text
}
