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
 * A plain SHA-256 is enough, because the secret has 260 random bits and cannot be guessed. API keys are used for
 * years. With a keyed hash, they would become invalid when the key of the hash is retired.
 */
const digest = (secret: string) => createHash("sha256").update(secret).digest()

/** Creates an API key. `text` is the complete key, which is shown once. `id` and `hash` are stored. */
export const makeApiKey = Effect.sync(() => {
  const id = randomCrockford(idLength)
  const secret = randomCrockford(secretLength)
  return { id, text: `svc_${id}_${secret}`, hash: digest(secret).toString("base64url") }
})

/**
 * Splits an API key into its parts. Returns undefined if the format is not exact: nothing is trimmed, and letter case
 * matters.
 */
export const parseApiKey = (text: string): ApiKeyParts | undefined => {
  const [, id, secret] = pattern.exec(text) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

export const apiKeyMatches = (storedHash: string, secret: string): boolean => {
  const expected = Buffer.from(storedHash, "base64url")
  const actual = digest(secret)
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}
