import { randomBytes } from "node:crypto"

/** A random number from 0 to below 1. It selects ids that are worth money, so it must not be predictable. */
export const secureRandom = (): number => randomBytes(6).readUIntBE(0, 6) / 2 ** 48
