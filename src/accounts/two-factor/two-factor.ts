import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Written } from "../../../actors/operation.ts"
import { type Enable2FAResponse, readPhone } from "../../../schema/accounts/two-factor.ts"
import type { TwoFactorProvider } from "../../../schema/accounts/user.ts"
import {
  NotFound,
  type TooManyRequests,
  type Unavailable,
  type Unprocessable,
} from "../../../schema/errors.ts"
import { AppConfig } from "../../config/read-config.ts"
import { Seal } from "../../crypto/envelope-encryption.ts"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import { DatabaseClock } from "../../postgres/database-clock.ts"
import type { WriteOutcome } from "../../postgres/guarded-write.ts"
import { type AccountName, accountKey } from "../account-name.ts"
import { Accounts } from "../account-store.ts"
import { CallerCache } from "../caller-cache.ts"
import { invalidField } from "../registration.ts"
import { SecurityLog } from "../security-log/security-log.ts"
import { OneTimeCodes } from "../sessions/one-time-codes.ts"
import { Sessions } from "../sessions/sessions.ts"
import { codesLocked, lastDigits, lockRule, phoneAad, SecondFactors, secretAad } from "./second-factors.ts"
import { Totp } from "./totp.ts"
import { type Disabled, makeTwoFactorStore, type NewTwoFactor, type Proof } from "./two-factor-store.ts"

const notEnabled = () => new NotFound({ error: "This two-factor method is not enabled." })

type SetUp = WriteOutcome<{ readonly done: boolean }, Enable2FAResponse>
/** The result of a code for a setup. `at` is when it was checked. */
type SetUpChecked = WriteOutcome<
  { readonly provider: TwoFactorProvider | null },
  { readonly userId: string; readonly at: number }
>
type BackupUsed = WriteOutcome<{ readonly proof: Proof }, Disabled>

export class TwoFactor extends Context.Service<
  TwoFactor,
  {
    /** Starts the setup of a method. The method is enabled when `confirm` is called with its code. */
    enable(
      userId: string,
      request: {
        readonly provider: TwoFactorProvider
        readonly default?: boolean | null
        readonly phone?: string | null
      },
    ): Effect.Effect<Written<SetUp>, Unprocessable | TooManyRequests | Unavailable>
    confirm(userId: string, code: string): Effect.Effect<Written<SetUpChecked>, TooManyRequests | Unavailable>
    /**
     * Records the enabled method and returns its provider. Fails if the code was wrong. The user's sessions show it: the
     * code also proves the second factor in this one.
     */
    confirmed(
      checked: SetUpChecked,
      sessionId: string,
    ): Effect.Effect<TwoFactorProvider, Unprocessable | Unavailable>
    /** Disables the method of this provider, or all methods if no provider is given. */
    disable(
      userId: string,
      provider: TwoFactorProvider | undefined,
    ): Effect.Effect<Written<WriteOutcome<{ readonly removed: number }, Disabled>>, NotFound | Unavailable>
    /** Records the disabled method. The user's sessions show it. */
    disabled(done: { readonly keep: Disabled }): Effect.Effect<void>
    /**
     * Disables the method of this provider, or all methods if no provider is given. It requires a backup code, for users
     * who lost their second factor. `name` is the name that an anonymous caller gives. `userId` is the user of a login
     * that has at least shown the password. Only then a wrong code counts for the lock of the account, because otherwise
     * anyone who knows an email address could lock its account. Anonymous guesses have a rate limit, and a backup code
     * has 40 random bits.
     */
    disableByBackup(
      who: { readonly name: AccountName } | { readonly userId: string },
      code: string,
      provider: TwoFactorProvider | undefined,
    ): Effect.Effect<Written<BackupUsed>, Unprocessable | TooManyRequests | Unavailable>
    /** Records the disabled method. Fails if the backup code was wrong. */
    disabledByBackup(used: BackupUsed): Effect.Effect<void, Unprocessable>
  }
>()("directory/TwoFactor") {
  static readonly layer = Layer.effect(
    TwoFactor,
    Effect.gen(function* () {
      const store = yield* makeTwoFactorStore
      const accounts = yield* Accounts
      const callers = yield* CallerCache
      const codes = yield* OneTimeCodes
      const factors = yield* SecondFactors
      const limits = yield* RateLimits
      const sealer = yield* Seal
      const sessions = yield* Sessions
      const securityLog = yield* SecurityLog
      const totp = yield* Totp
      const clock = yield* DatabaseClock
      const lock = lockRule(yield* AppConfig)

      const setUp = (factor: NewTwoFactor, response: Enable2FAResponse) =>
        Effect.flatMap(store.setUp(factor, response), (written) =>
          written.outcome.rows[0]?.done
            ? Effect.succeed(written)
            : Effect.fail(
                invalidField(
                  "provider",
                  "uniqueness",
                  "This two-factor method is already enabled. Disable it first.",
                ),
              ),
        )

      const enable = Effect.fnUntraced(function* (
        userId: string,
        request: {
          readonly provider: TwoFactorProvider
          readonly default?: boolean | null
          readonly phone?: string | null
        },
      ) {
        const backup_codes = yield* codes.makeBackupCodes
        const shared = {
          user_id: userId,
          provider: request.provider,
          is_default: request.default ?? true,
          backup_hashes: backup_codes.map((code) =>
            codes.hash({ purpose: "backup-code", subject: userId }, code),
          ),
        }
        if (request.provider === "SMS") {
          if (!request.phone)
            return yield* invalidField("phone", "required", "A phone number is required for SMS.")
          const phone = readPhone(request.phone)
          if (phone === undefined) {
            return yield* invalidField(
              "phone",
              "invalid",
              "Send the phone number in international format, for example +14155550100.",
            )
          }
          yield* limits.take("mail", { account: `sms/${userId}` })
          return yield* setUp(
            {
              ...shared,
              sealed_phone: yield* sealer.seal(Buffer.from(phone), phoneAad(userId)),
              sms: yield* factors.makeSms(userId, phone),
            },
            { backup_codes, phone_last_digits: lastDigits(phone) },
          )
        }
        const secret = yield* totp.makeSecret
        const account = yield* accounts.find({ id: userId })
        const { qrCodeSvg } = totp.enrolment(secret, account?.email ?? userId)
        return yield* setUp(
          { ...shared, sealed_secret: yield* sealer.seal(Buffer.from(secret), secretAad(userId)) },
          { backup_codes, ga_secret: secret, ga_qr_code_svg: qrCodeSvg },
        )
      })

      const confirm = Effect.fnUntraced(function* (userId: string, typed: string) {
        const code = typed.trim()
        yield* limits.take("code", { account: userId })
        const match = yield* factors.findStep(userId, code, { confirmed: false })
        // If the response is lost, the statement is sent again. The attempt id shows that the second statement
        // repeats the first one.
        const attempt = randomUUID()
        const given = {
          step: match?.step ?? null,
          sealedSecret: match?.sealedSecret ?? null,
          smsHashes: factors.smsHashes(userId, code),
        }
        return yield* store
          .confirm(userId, attempt, given, { userId, at: clock.now() })
          .pipe(callers.invalidating(userId))
      })

      const confirmed = Effect.fnUntraced(function* (
        { keep: { at, userId }, rows }: SetUpChecked,
        sessionId: string,
      ) {
        const provider = rows[0]?.provider ?? null
        if (provider === null) {
          return yield* invalidField("code", "invalid", "The code is wrong, or no setup is pending.")
        }
        yield* limits.forgive("code", { account: userId })
        yield* securityLog.record({ event: "two_factor.enabled", userId, details: { provider } })
        yield* sessions.factorEnabled(userId, sessionId, at)
        return provider
      })

      const disable = (userId: string, provider: TwoFactorProvider | undefined) =>
        store.disable(userId, provider).pipe(
          callers.invalidating(userId),
          Effect.filterOrFail(({ outcome }) => (outcome.rows[0]?.removed ?? 0) > 0, notEnabled),
        )

      const disabled = Effect.fnUntraced(function* ({
        keep: { provider, userId },
      }: {
        readonly keep: Disabled
      }) {
        yield* securityLog.record({ event: "two_factor.disabled", userId, details: { provider } })
        yield* tellSessions(userId)
      })

      /**
       * Ends the state `Stale` of the user's sessions if no provider is left. The change is already committed, so a
       * failure is only logged. The next refresh of each session repairs its state.
       */
      const tellSessions = Effect.fnUntraced(
        function* (userId: string) {
          const account = yield* accounts.find({ id: userId })
          if (account?.providers.length === 0) yield* sessions.factorsDisabled(userId)
        },
        Effect.catchTag("Unavailable", (failure) =>
          Effect.logWarning("sessions do not know yet that two-factor authentication is disabled", failure),
        ),
      )

      const proofOf = ({ rows }: BackupUsed) => rows[0]!.proof
      const recordWrong = (userId: string | undefined) =>
        securityLog.record({ event: "two_factor.failed", userId, details: { method: "backup" } })
      const wrongBackupCode = () => invalidField("backup_code", "invalid", "The backup code is wrong.")

      const disableAnonymously = Effect.fnUntraced(function* (
        name: AccountName,
        code: string,
        provider: TwoFactorProvider | undefined,
      ) {
        yield* limits.take("code", { account: accountKey(name) })
        const account = yield* accounts.find(name)
        // The statement runs for unknown users too, so that the duration does not reveal whether a user exists.
        const userId = account?.id ?? randomUUID()
        const written = yield* store
          .disableByBackup(userId, factors.backupHashes(userId, code), provider)
          // The caches are invalidated for a wrong code too: an earlier attempt may have used the code, and its
          // response may have been lost.
          .pipe(callers.invalidating(userId))
        if (proofOf(written.outcome).proof === "proven") return written
        yield* recordWrong(account?.id)
        return yield* wrongBackupCode()
      })

      const disableInLogin = Effect.fnUntraced(function* (
        userId: string,
        code: string,
        provider: TwoFactorProvider | undefined,
      ) {
        yield* limits.take("code", { account: userId })
        const written = yield* store
          .disableByCountedBackup(userId, randomUUID(), factors.backupHashes(userId, code), provider, lock)
          .pipe(callers.invalidating(userId))
        const { locked_until, proof } = proofOf(written.outcome)
        if (proof !== "locked") return written
        yield* recordWrong(userId)
        return yield* codesLocked(locked_until ?? 0, clock.now())
      })

      const disabledByBackup = Effect.fnUntraced(function* (used: BackupUsed) {
        const { provider, userId } = used.keep
        if (proofOf(used).proof !== "proven") {
          yield* recordWrong(userId)
          return yield* wrongBackupCode()
        }
        const details = { provider, method: "backup" }
        yield* securityLog.record({ event: "two_factor.disabled", userId, details })
        yield* tellSessions(userId)
      })

      return TwoFactor.of({
        enable,
        confirm,
        confirmed,
        disable,
        disabled,
        disabledByBackup,
        disableByBackup: (who, code, provider) =>
          "userId" in who
            ? disableInLogin(who.userId, code, provider)
            : disableAnonymously(who.name, code, provider),
      })
    }),
  )
}
