import { randomBytes } from "node:crypto"

/**
 * Crockford's base 32 alphabet, without i, l, o and u. 32 divides 256, so the low five bits of a random byte select
 * each symbol with the same probability.
 */
export const crockfordAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

export const randomCrockford = (symbols: number) => {
  let text = ""
  for (const byte of randomBytes(symbols)) text += crockfordAlphabet[byte & 31]
  return text
}
