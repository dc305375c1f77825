import { Effect } from "effect"
import type { TwoFactorProvider } from "../../../schema/accounts/user.ts"
import type { Client } from "../../postgres/client.ts"
import type { ExpiredRows } from "../../postgres/prune.ts"
import { Sql } from "../../postgres/sql.ts"
import type { OutboxRow } from "../../turns/outbox.ts"

/**
 * The result of checking a code. "spent" means that the code was already used. "locked" means that the code was not
 * checked, because too many wrong codes were entered for the account.
 */
export interface Proof {
  readonly proof: "proven" | "spent" | "wrong" | "locked"
  /**
   * Until when no code of the account is checked, in milliseconds since the Unix epoch. Null if the account is not
   * locked. It is also set for the wrong code that caused the lock.
   */
  readonly locked_until: number | null
}

/** After this many wrong codes in a row, the account is locked for this time. */
export interface LockRule {
  readonly wrongCodes: number
  readonly seconds: number
}

/** The hash of an SMS code, how long the code is valid, and the message that contains the code. */
export interface NewSmsCode {
  readonly hash: string
  readonly seconds: number
  readonly mail: ReadonlyArray<OutboxRow>
}

export interface NewTwoFactor {
  readonly user_id: string
  readonly provider: TwoFactorProvider
  readonly is_default: boolean
  readonly backup_hashes: ReadonlyArray<string>
  readonly sealed_secret?: string
  readonly sealed_phone?: string
  readonly sms?: NewSmsCode
}

/** What a request disabled. */
export interface Disabled {
  readonly userId: string
  readonly provider: TwoFactorProvider | "all"
}

const isDone = (q: Client) => q`effect.done`

/** Stores the second factors of users, with their SMS codes and backup codes. */
export const makeTwoFactorStore = Sql.useSync((sql) => ({
  findSealedSecret: (userId: string, { confirmed }: { readonly confirmed: boolean }) =>
    sql
      .rows<{ sealed_secret: string }>(
        (q) => q`select sealed_secret from two_factor
                  where user_id = ${userId} and provider = 'AuthenticatorApp' and (confirmed_at is not null) = ${confirmed}`,
      )
      .pipe(Effect.map((rows) => rows[0]?.sealed_secret)),
  findSealedPhone: (userId: string, { confirmedOnly }: { readonly confirmedOnly: boolean }) =>
    sql
      .rows<{ sealed_phone: string }>(
        (q) => q`select sealed_phone from two_factor
                  where user_id = ${userId} and provider = 'SMS' and (confirmed_at is not null or not ${confirmedOnly})`,
      )
      .pipe(Effect.map((rows) => rows[0]?.sealed_phone)),
  /** Verifies the code and uses it up. Counts a wrong code for the account. */
  spendCode: (
    userId: string,
    attempt: string,
    code: {
      readonly step: number | null
      /** Whether the code is for a login, which may use the step of the setup once more. */
      readonly forLogin: boolean
      readonly smsHashes: ReadonlyArray<string>
      readonly backupHashes: ReadonlyArray<string>
    },
    lock: LockRule,
  ) =>
    sql
      .rows<{ proof: Proof }>(
        (
          q,
        ) => q`select check_second_factor(${userId}, ${attempt}, ${code.step}, ${code.forLogin}, ${code.smsHashes as string[]},
                                            ${code.backupHashes as string[]}, ${lock.wrongCodes}, ${lock.seconds}) as proof`,
      )
      .pipe(Effect.map((rows) => rows[0]!.proof)),
  /** Stores an SMS code and its message. `done` is false if `sealedPhone` is no longer the user's phone. */
  putSmsCode: <Keep>(userId: string, sealedPhone: string, { hash, mail, seconds }: NewSmsCode, keep: Keep) =>
    sql.write.rows<{ done: boolean }, Keep>(
      (q) =>
        q`select put_code_for_phone(${userId}, ${sealedPhone}, ${hash}, ${seconds}, ${JSON.stringify(mail)}::text::jsonb) as done`,
      { keep, when: isDone },
    ),
  /**
   * Starts the setup of a provider. `done` is false if this provider is already enabled, or if the account was deleted.
   */
  setUp: <Keep>(factor: NewTwoFactor, keep: Keep) =>
    sql.write.rows<{ done: boolean }, Keep>(
      (q) => q`select set_up_two_factor(${JSON.stringify(factor)}::text::jsonb) as done`,
      { keep, when: isDone },
    ),
  /**
   * Completes the setup of a provider. Returns the provider that is now enabled, or null if the code is wrong or no
   * setup is pending. A wrong code is counted, so this result too is stored with the Idempotency-Key.
   */
  confirm: <Keep>(
    userId: string,
    attempt: string,
    code: {
      readonly step: number | null
      readonly sealedSecret: string | null
      readonly smsHashes: ReadonlyArray<string>
    },
    keep: Keep,
  ) =>
    sql.write.rows<{ provider: TwoFactorProvider | null }, Keep>(
      (q) => q`select confirm_two_factor(${userId}, ${attempt}, ${code.step}, ${code.sealedSecret},
                                         ${code.smsHashes as string[]}) as provider`,
      { keep },
    ),
  /** Removes the provider, or all providers if none is given. Returns the number of removed providers. */
  disable: (userId: string, provider: TwoFactorProvider | undefined) =>
    sql.write.rows<{ removed: number }, Disabled>(
      (q) => q`select disable_two_factor(${userId}, ${provider ?? null}) as removed`,
      { keep: { userId, provider: provider ?? "all" }, when: (q) => q`effect.removed > 0` },
    ),
  /**
   * Removes the provider, or all providers if none is given, and uses the backup code up. `proof` is "wrong" if the
   * backup code is wrong or the provider is not enabled.
   */
  disableByBackup: (
    userId: string,
    backupHashes: ReadonlyArray<string>,
    provider: TwoFactorProvider | undefined,
  ) =>
    sql.write.rows<{ proof: Proof }, Disabled>(
      (q) => q`select jsonb_build_object('locked_until', null, 'proof', case
                        when backup_disable_two_factor(${userId}, ${backupHashes as string[]}, ${provider ?? null}) is null
                        then 'wrong' else 'proven' end) as proof`,
      {
        keep: { userId, provider: provider ?? "all" },
        when: (q) => q`effect.proof->>'proof' = 'proven'`,
      },
    ),
  /** Does the same as `disableByBackup`, and counts a wrong code for the account. */
  disableByCountedBackup: (
    userId: string,
    attempt: string,
    backupHashes: ReadonlyArray<string>,
    provider: TwoFactorProvider | undefined,
    lock: LockRule,
  ) =>
    sql.write.rows<{ proof: Proof }, Disabled>(
      (
        q,
      ) => q`select prove_backup_disable(${userId}, ${attempt}, ${backupHashes as string[]}, ${provider ?? null},
                                           ${lock.wrongCodes}, ${lock.seconds}) as proof`,
      {
        keep: { userId, provider: provider ?? "all" },
        when: (q) => q`effect.proof->>'proof' in ('proven', 'wrong')`,
      },
    ),
}))

export const expiredSmsCodes = (keptHours: number): ExpiredRows => ({
  table: "sms_code",
  time: (q) => q`expires_at`,
  isExpired: (q) => q`expires_at < now() - make_interval(hours => ${keptHours})`,
})
