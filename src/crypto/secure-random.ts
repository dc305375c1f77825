import { randomBytes } from "node:crypto"

/** From 0 to below 1. What is drawn with it is worth money: nobody may foresee it. */
export const secureRandom = (): number => randomBytes(6).readUIntBE(0, 6) / 2 ** 48
