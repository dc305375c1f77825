import { randomBytes } from "node:crypto"

/**
 * Returns a random number that is at least 0 and less than 1. It selects ids that are worth money, so it must not be
 * predictable.
 */
export const secureRandom = (): number => randomBytes(6).readUIntBE(0, 6) / 2 ** 48
