import { createHash, timingSafeEqual } from "node:crypto"
import { Effect } from "effect"
import { crockfordAlphabet, randomCrockford } from "../../crypto/crockford-base32.ts"

export interface ApiKeyParts {
  readonly id: string
  readonly secret: string
}

const idLength = 20
const secretLength = 52
const pattern = new RegExp(
  `^svc_([${crockfordAlphabet}]{${idLength}})_([${crockfordAlphabet}]{${secretLength}})$`,
)

/**
 * A plain SHA-256: the secret has 260 random bits, so there is nothing to guess, and a key meant to last for years
 * should not stop working when a pepper is retired.
 */
const digest = (secret: string) => createHash("sha256").update(secret).digest()

/** `text` is shown once, `id` and `hash` are stored. */
export const makeApiKey = Effect.sync(() => {
  const id = randomCrockford(idLength)
  const secret = randomCrockford(secretLength)
  return { id, text: `svc_${id}_${secret}`, hash: digest(secret).toString("base64url") }
})

/** Strict: no trimming, no other letter case, no other length. */
export const parseApiKey = (text: string): ApiKeyParts | undefined => {
  const [, id, secret] = pattern.exec(text) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

export const apiKeyMatches = (storedHash: string, secret: string): boolean => {
  const expected = Buffer.from(storedHash, "base64url")
  const actual = digest(secret)
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}
