import { Clock, Context, Effect, Layer } from "effect"
import type { Written } from "../../../actors/operation.ts"
import { fieldFault, TooManyRequests, type Unavailable, type Unprocessable } from "../../../schema/errors.ts"
import { AppConfig } from "../../config/read-config.ts"
import { Seal } from "../../crypto/envelope-encryption.ts"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import { makeDatabaseTime } from "../../postgres/database-clock.ts"
import type { WriteOutcome } from "../../postgres/guarded-write.ts"
import { Outbox } from "../../turns/outbox.ts"
import { OneTimeCodes, readBackupCode } from "../sessions/one-time-codes.ts"
import { Totp } from "./totp.ts"
import { type LockRule, makeTwoFactorStore, type NewSmsCode, type Proof } from "./two-factor-store.ts"

interface TotpMatch {
  readonly step: number
  readonly sealedSecret: string
}

/** Wrong TOTP codes, SMS codes and backup codes count together, in all logins of the account. */
const maxWrongCodes = 5
export const lockRule = (config: { readonly twoFactorLockSeconds: number }): LockRule => ({
  wrongCodes: maxWrongCodes,
  seconds: config.twoFactorLockSeconds,
})

/** The error for a code that was not checked, because the account is locked. */
export const codesLocked = (lockedUntil: number, now: number) =>
  new TooManyRequests({
    error:
      "Too many wrong two-factor codes were entered for this account. Wait until the lock ends, then enter a new code.",
    retryAfterSeconds: Math.max(1, Math.ceil((lockedUntil - now) / 1000)),
    details: { state: "Locked" },
  })

export const smsCodeSeconds = 600
export const secretAad = (userId: string) => `two-factor/secret/${userId}`
export const phoneAad = (userId: string) => `two-factor/phone/${userId}`
export const lastDigits = (phone: string) => phone.slice(-4)

/** Verifies the two-factor codes of users and sends SMS codes. */
export class SecondFactors extends Context.Service<
  SecondFactors,
  {
    /**
     * Verifies the code and uses it up. A wrong code counts for the account, and the fifth wrong code in a row locks
     * it. If a call is repeated with the same `attempt`, its result is the same and a wrong code counts once. With
     * `forLogin`, the TOTP code that confirmed the setup is accepted once more.
     */
    prove(
      userId: string,
      attempt: string,
      code: string,
      facts: { readonly forLogin: boolean },
    ): Effect.Effect<Proof, Unavailable>
    /**
     * Checks a TOTP code against the secret of the confirmed provider, or of the pending setup. Returns the time step
     * of the code and the encrypted secret, or undefined if the code is wrong or there is no readable secret.
     */
    findStep(
      userId: string,
      code: string,
      facts: { readonly confirmed: boolean },
    ): Effect.Effect<TotpMatch | undefined, Unavailable>
    /** Returns all hashes under which an SMS code of this user may be stored. */
    smsHashes(userId: string, code: string): ReadonlyArray<string>
    backupHashes(userId: string, code: string): ReadonlyArray<string>
    /** Creates an SMS code. Returns its hash, its lifetime, and the encrypted message for the outbox. */
    makeSms(userId: string, phone: string): Effect.Effect<NewSmsCode>
    /**
     * Sends a code to the user's phone. With `confirmedOnly`, a phone that is still being set up gets no code. Keeps
     * the last digits of the number.
     */
    sendSms(
      userId: string,
      facts: { readonly confirmedOnly: boolean },
    ): Effect.Effect<
      Written<WriteOutcome<{ readonly done: boolean }, { readonly lastDigits: string }>>,
      Unprocessable | TooManyRequests | Unavailable
    >
  }
>()("directory/SecondFactors") {
  static readonly layer = Layer.effect(
    SecondFactors,
    Effect.gen(function* () {
      const store = yield* makeTwoFactorStore
      const sealer = yield* Seal
      const codes = yield* OneTimeCodes
      const totp = yield* Totp
      const outbox = yield* Outbox
      const limits = yield* RateLimits
      // TOTP steps use the database's clock, so that a node with a wrong clock accepts the same codes as all other
      // nodes.
      const clock = yield* makeDatabaseTime
      const lock = lockRule(yield* AppConfig)

      /**
       * Decrypts a secret or a phone number. Returns undefined if this fails, for example because the key was retired.
       * Then the codes of this provider cannot be checked or sent until the provider is disabled and set up again.
       */
      const openOrWarn = (userId: string, sealed: string, aad: string) =>
        sealer
          .open(sealed, aad)
          .pipe(
            Effect.catch(({ reason }) =>
              Effect.as(
                Effect.logWarning("two-factor secret decryption failed", { userId, reason }),
                undefined,
              ),
            ),
          )

      const findStep = Effect.fnUntraced(function* (
        userId: string,
        code: string,
        facts: { readonly confirmed: boolean },
      ) {
        const sealedSecret = yield* store.findSealedSecret(userId, facts)
        if (sealedSecret === undefined) return undefined
        const secret = yield* openOrWarn(userId, sealedSecret, secretAad(userId))
        if (secret === undefined) return undefined
        const step = yield* totp
          .verify(secret.toString(), code, undefined)
          .pipe(Effect.provideService(Clock.Clock, clock))
        return step === undefined ? undefined : { step, sealedSecret }
      })

      const smsHashes = (userId: string, code: string) =>
        codes.lookupHashes({ purpose: "sms-code", subject: userId }, code)
      const backupHashes = (userId: string, code: string) => {
        const read = readBackupCode(code)
        return read === undefined ? [] : codes.lookupHashes({ purpose: "backup-code", subject: userId }, read)
      }

      const makeSms = Effect.fnUntraced(function* (userId: string, phone: string) {
        const code = yield* codes.makeSixDigits
        return {
          hash: codes.hash({ purpose: "sms-code", subject: userId }, code),
          seconds: smsCodeSeconds,
          mail: yield* outbox.seal([{ to: phone, kind: "two_factor_sms", data: { code } }]),
        }
      })

      return SecondFactors.of({
        findStep,
        smsHashes,
        backupHashes,
        makeSms,
        prove: Effect.fnUntraced(function* (userId, attempt, typed, { forLogin }) {
          const code = typed.trim()
          const step = (yield* findStep(userId, code, { confirmed: true }))?.step ?? null
          const hashes = { smsHashes: smsHashes(userId, code), backupHashes: backupHashes(userId, code) }
          return yield* store.spendCode(userId, attempt, { step, forLogin, ...hashes }, lock)
        }),
        sendSms: Effect.fnUntraced(function* (userId, facts) {
          const sealedPhone = yield* store.findSealedPhone(userId, facts)
          if (sealedPhone === undefined) {
            return yield* fieldFault("phone", "missing", "No phone number is set up for two-factor codes.")
          }
          yield* limits.take("mail", { account: `sms/${userId}` })
          const opened = yield* openOrWarn(userId, sealedPhone, phoneAad(userId))
          if (opened === undefined) {
            return yield* fieldFault(
              "phone",
              "unreadable",
              "The stored phone number cannot be read. Contact support to have it removed.",
            )
          }
          const phone = opened.toString()
          const keep = { lastDigits: lastDigits(phone) }
          const written = yield* store.putSmsCode(userId, sealedPhone, yield* makeSms(userId, phone), keep)
          if (!written.outcome.rows[0]?.done) {
            return yield* fieldFault(
              "phone",
              "changed",
              "Another request changed the phone number. Request a new code.",
            )
          }
          return written
        }),
      })
    }),
  )
}
