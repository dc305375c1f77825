import { createHmac, type KeyObject, randomBytes, randomInt, timingSafeEqual } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { crockfordAlphabet, randomCrockford } from "../../crypto/crockford-base32.ts"
import { type KeyRingInvalid, makeKeyRing, type NamedKey } from "../../crypto/key-ring.ts"

/** Short enough to guess, so the hash is bound to whom the code was made for and one entity's code is no other's. */
type ShortCodePurpose =
  | "backup-code"
  | "email-code"
  | "form-token"
  | "registered-here"
  | "sms-code"
  | "transfer-sender"
  | "transfer-receiver"
/** 256 random bits, found by their hash before anybody knows whose they are. */
type OpaqueTokenPurpose = "refresh-token" | "magic-link" | "oauth-client-secret" | "partner-visit"

export type CodeContext =
  | { readonly purpose: ShortCodePurpose; readonly subject: string }
  | { readonly purpose: OpaqueTokenPurpose; readonly subject?: never }

const backupCodeCount = 10
const backupCodePattern = new RegExp(`^[${crockfordAlphabet}]{8}$`)

/** Reads a backup code as people type it (spaces, capitals, o for 0, i and l for 1), or gives undefined. */
export const readBackupCode = (typed: string): string | undefined => {
  if (typed.length > 32) return undefined
  const symbols = typed.toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1")
  return backupCodePattern.test(symbols) ? `${symbols.slice(0, 4)}-${symbols.slice(4)}` : undefined
}

/** JSON keeps the parts apart: no choice of subject and code spells another pair. */
const digest = (key: KeyObject, { purpose, subject }: CodeContext, code: string) =>
  createHmac("sha256", key)
    .update(JSON.stringify([purpose, subject ?? null, code]))
    .digest()

const encode = (keyId: string, mac: Buffer) => `${keyId}.${mac.toString("base64url")}`

/**
 * Codes and tokens that are shown once and stored only as `<key id>.<keyed hash>`. The key (pepper) is not in the
 * database: without it a dump does not even let a million six-digit codes be tried.
 */
export class OneTimeCodes extends Context.Service<
  OneTimeCodes,
  {
    readonly makeSixDigits: Effect.Effect<string>
    readonly makeOpaqueToken: Effect.Effect<string>
    /** Ten of `xxxx-xxxx`, 40 bits each. */
    readonly makeBackupCodes: Effect.Effect<ReadonlyArray<string>>
    readonly hash: (context: CodeContext, code: string) => string
    /** Every hash the code may be stored under, one per key, for `where hash = any(…)`. */
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
