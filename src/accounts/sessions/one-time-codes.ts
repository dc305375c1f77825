import { createHmac, type KeyObject, randomBytes, randomInt, timingSafeEqual } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { crockfordAlphabet, randomCrockford } from "../../crypto/crockford-base32.ts"
import { type KeyRingInvalid, makeKeyRing, type NamedKey } from "../../crypto/key-ring.ts"

/**
 * The purposes of codes that belong to one subject, for example a user or a transfer. The hash includes the subject,
 * so that a code is valid for this subject only.
 */
type ShortCodePurpose =
  | "backup-code"
  | "email-code"
  | "form-token"
  | "registered-here"
  | "sms-code"
  | "transfer-sender"
  | "transfer-receiver"
/**
 * The purposes of tokens with 256 random bits. Such a token is looked up by its hash alone, before its subject is
 * known.
 */
type OpaqueTokenPurpose =
  | "refresh-token"
  | "magic-link"
  | "password-reset"
  | "oauth-client-secret"
  | "partner-visit"

export type CodeContext =
  | { readonly purpose: ShortCodePurpose; readonly subject: string }
  | { readonly purpose: OpaqueTokenPurpose; readonly subject?: never }

const backupCodeCount = 10
const backupCodePattern = new RegExp(`^[${crockfordAlphabet}]{8}$`)

/**
 * Normalises a typed backup code: it ignores spaces, hyphens and letter case, and reads o as 0, and i and l as 1.
 * Returns undefined if the text is not a backup code.
 */
export const readBackupCode = (typed: string): string | undefined => {
  if (typed.length > 32) return undefined
  const symbols = typed.toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1")
  return backupCodePattern.test(symbols) ? `${symbols.slice(0, 4)}-${symbols.slice(4)}` : undefined
}

/**
 * Computes the keyed hash of a code. The input is JSON, so that two different combinations of purpose, subject and
 * code never have the same input.
 */
const digest = (key: KeyObject, { purpose, subject }: CodeContext, code: string) =>
  createHmac("sha256", key)
    .update(JSON.stringify([purpose, subject ?? null, code]))
    .digest()

const encode = (keyId: string, mac: Buffer) => `${keyId}.${mac.toString("base64url")}`

/**
 * Creates and checks codes and tokens. A code or token is compared with a hash of the form `<key id>.<keyed hash>`.
 * The key is not in the database. So a person who has only a database dump cannot find a six-digit code by trying all
 * of them.
 */
export class OneTimeCodes extends Context.Service<
  OneTimeCodes,
  {
    readonly makeSixDigits: Effect.Effect<string>
    readonly makeOpaqueToken: Effect.Effect<string>
    /** Creates ten codes of the form `xxxx-xxxx` with 40 random bits each. */
    readonly makeBackupCodes: Effect.Effect<ReadonlyArray<string>>
    readonly hash: (context: CodeContext, code: string) => string
    /**
     * Returns every hash under which the code may be stored, one for each key of the service. Used in `where hash =
     * any(…)`.
     */
    readonly lookupHashes: (context: CodeContext, code: string) => ReadonlyArray<string>
    readonly matches: (stored: string, context: CodeContext, code: string) => boolean
  }
>()("services/OneTimeCodes") {
  static readonly layer = (options: {
    readonly keys: ReadonlyArray<NamedKey>
  }): Layer.Layer<OneTimeCodes, KeyRingInvalid> =>
    Layer.effect(
      OneTimeCodes,
      Effect.gen(function* () {
        const ring = yield* makeKeyRing(options.keys, "one-time-codes")
        return OneTimeCodes.of({
          makeSixDigits: Effect.sync(() => randomInt(1_000_000).toString().padStart(6, "0")),
          makeOpaqueToken: Effect.sync(() => randomBytes(32).toString("base64url")),
          makeBackupCodes: Effect.sync(() => {
            const codes = new Set<string>()
            while (codes.size < backupCodeCount) codes.add(`${randomCrockford(4)}-${randomCrockford(4)}`)
            return Array.from(codes)
          }),
          hash: (context, code) => encode(ring.currentId, digest(ring.current, context, code)),
          lookupHashes: (context, code) =>
            Array.from(ring.all, ([keyId, key]) => encode(keyId, digest(key, context, code))),
          matches: (stored, context, code) => {
            const dot = stored.indexOf(".")
            const key = ring.all.get(stored.slice(0, dot))
            if (key === undefined) return false
            const expected = Buffer.from(stored.slice(dot + 1), "base64url")
            const actual = digest(key, context, code)
            return expected.length === actual.length && timingSafeEqual(expected, actual)
          },
        })
      }),
    )
}
