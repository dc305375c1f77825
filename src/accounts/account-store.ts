import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import type { ChannelPosition } from "../../actors/ports.ts"
import type { Role } from "../../schema/accounts/scope.ts"
import type { TwoFactorProvider } from "../../schema/accounts/user.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { type CustodialKey, CustodialKeys } from "../crypto/custodial-keys.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { Sql } from "../postgres/sql.ts"
import type { SqlRefused } from "../postgres/sql-failures.ts"
import type { OutboxRow } from "../turns/outbox.ts"
import type { AccountName } from "./account-name.ts"

/** The data of a user that a new session needs. */
export interface SessionUser {
  readonly id: string
  readonly role: Role
  readonly epoch: number
  readonly has_password: boolean
  /** The confirmed two-factor providers. The default provider is the first one. */
  readonly providers: ReadonlyArray<TwoFactorProvider>
  /** The user was not asked within the last 30 days to set up a second factor. */
  readonly prompt_is_due: boolean
}

/**
 * The data of a user that login needs. It contains the password hash, so it must not be sent to clients as a whole.
 */
export interface Account extends SessionUser {
  readonly email: string | null
  readonly active: boolean
  readonly password_hash: string | null
  readonly email_verified: boolean
  /**
   * The account was created for the recipient of a transfer or lootbox. Nobody has registered it or confirmed its
   * email yet.
   */
  readonly invited: boolean
}

interface NewLink {
  readonly token_hash: string
  readonly purpose: string
  readonly seconds: number
}

export interface NewAccount {
  readonly id: string
  readonly email?: string
  readonly alternate_id?: string
  readonly source?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly partner_conversion_id?: string
  readonly partner_transaction_id?: string
  readonly password_hash?: string
  readonly link?: NewLink
  readonly mail?: ReadonlyArray<OutboxRow>
}

/** A custodial key in the form that the SQL functions read. */
const storedKey = ({ pubkey, sealedKey }: CustodialKey) => ({ pubkey, sealed_key: sealedKey })

export interface AccountChange {
  readonly id: string
  readonly first_name?: string
  readonly last_name?: string
  /** The hash of the password that authorised the change, or null if the account had no password. */
  readonly old_hash?: string | null
  readonly new_hash?: string
  /** Deletes all API keys of the account. */
  readonly revoke_api_keys?: boolean
  readonly email?: string
  readonly link?: NewLink
  readonly mail?: ReadonlyArray<OutboxRow>
}

export interface SessionsEnded {
  readonly epoch: number
  readonly events: ReadonlyArray<ChannelPosition>
}

/** The result of a change that ended the user's sessions, with the data for a new one. */
export interface SessionsReplaced extends SessionsEnded {
  readonly user: SessionUser
}

/** The result of a change of an account. It is empty if the change did not end the user's sessions. */
export type AccountChanged = SessionsReplaced | Record<string, never>

interface OldSessionsEnded extends Pick<SessionsEnded, "events"> {
  readonly session_ids: ReadonlyArray<string>
}

/** Reads and changes accounts for login, registration and changes of credentials. */
export class Accounts extends Context.Service<
  Accounts,
  {
    find(name: AccountName): Effect.Effect<Account | undefined, Unavailable>
    /**
     * Creates the user with a custodial key. If the email belongs to an active invited account that owns nothing, that account is
     * registered instead. Returns the user.
     */
    register<Keep>(
      account: NewAccount,
      keep: Keep,
    ): Effect.Effect<Written<WriteOutcome<{ readonly user: SessionUser }, Keep>>, Unavailable | SqlRefused>
    /**
     * Makes the user with this email an active administrator with a confirmed email, and creates the user if there is
     * none. The password is replaced with `wantedHash` only if the stored hash is still `storedHash`.
     */
    putAdmin(
      email: string,
      hashes: { readonly storedHash: string | null; readonly wantedHash: string },
    ): Effect.Effect<void, Unavailable>
    /**
     * Changes an account. `done` is null if the stored password is no longer `old_hash`, or if the account was
     * deleted.
     */
    update<Keep>(
      change: AccountChange,
      keep: Keep,
    ): Effect.Effect<
      Written<WriteOutcome<{ readonly done: AccountChanged | null }, Keep>>,
      Unavailable | SqlRefused
    >
    /**
     * Finds the confirmed email that the user has replaced with a new email that is not confirmed yet. Returns
     * undefined if there is none, or if an administrator replaced it.
     */
    findLeftEmail(userId: string): Effect.Effect<string | undefined, Unavailable>
    /**
     * Stores a new hash of the same password, for example after the cost parameters changed. Does nothing if the
     * stored hash is no longer `oldHash`.
     */
    rehash(userId: string, oldHash: string, newHash: string): Effect.Effect<void, Unavailable>
    /** Records that the user's clients ask the user now to set up a second factor. */
    recordPrompt(userId: string): Effect.Effect<void, Unavailable>
    /**
     * Ends the open sessions of the user except the `keep` most recently updated ones. Complete logins and logins that
     * wait for a two-factor code are counted separately, so that a person who knows only the password cannot end
     * complete logins. Returns undefined if the user has fewer than `keep` open sessions of each of these two kinds.
     */
    endOldSessions(userId: string, keep: number): Effect.Effect<OldSessionsEnded | undefined, Unavailable>
    /** Ends all sessions of the user. `ended` is null if there is no such user. */
    endSessions<Keep>(
      userId: string,
      reason: string,
      keep: Keep,
    ): Effect.Effect<Written<WriteOutcome<{ readonly ended: SessionsEnded | null }, Keep>>, Unavailable>
  }
>()("directory/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const sql = yield* Sql
      const custodial = yield* CustodialKeys

      const find = (name: AccountName) =>
        sql
          .rows<Account>((q) => {
            const byEmail = (email: string, spelling = email) =>
              spelling === email
                ? q`u.email = ${email}`
                : q`u.email in (${spelling}, ${email}) order by u.email = ${spelling} desc limit 1`
            const where =
              "id" in name
                ? q`u.id = ${name.id}`
                : "email" in name
                  ? byEmail(name.email, name.spelling)
                  : q`u.alternate_id = ${name.alternateId}`
            return q`select u.id, u.email, u.role, u.token_epoch as epoch, u.password_hash,
                            u.password_hash is not null as has_password,
                            u.deactivated_at is null and u.deleted_at is null as active,
                            u.email_verified_at is not null as email_verified, u.invited_at is not null as invited,
                            array(select t.provider from two_factor t
                                   where t.user_id = u.id and t.confirmed_at is not null
                                   order by t.is_default desc, t.provider) as providers,
                            prompt_is_due(u) as prompt_is_due
                       from app_user u where ${where}`
          })
          .pipe(Effect.map((rows) => rows[0]))

      return Accounts.of({
        find,
        register: <Keep>(account: NewAccount, keep: Keep) =>
          Effect.flatMap(custodial.make, (key) => {
            const given = JSON.stringify({ ...account, key: storedKey(key) })
            return sql.write.attempt<{ user: SessionUser }, Keep>(
              (q) => q`select register_user(${given}::text::jsonb) as user`,
              { keep },
            )
          }),
        putAdmin: Effect.fnUntraced(function* (email, { storedHash, wantedHash }) {
          const key = JSON.stringify(storedKey(yield* custodial.make))
          yield* sql.rows(
            (q) => q`select ensure_admin(${email}, ${storedHash}, ${wantedHash}, ${key}::text::jsonb)`,
          )
        }),
        update: <Keep>(change: AccountChange, keep: Keep) =>
          sql.write.attempt<{ done: AccountChanged | null }, Keep>(
            (q) => q`select update_account(${JSON.stringify(change)}::text::jsonb) as done`,
            { keep, when: (q) => q`effect.done is not null` },
          ),
        findLeftEmail: (userId) =>
          sql
            .rows<{ proven_email: string | null }>(
              (q) => q`select u.proven_email from app_user u
                        where u.id = ${userId} and u.email_verified_at is null and exists (
                          select 1 from magic_link m
                           where m.user_id = u.id and m.email = u.email and m.purpose = 'confirm')`,
            )
            .pipe(Effect.map((rows) => rows[0]?.proven_email ?? undefined)),
        rehash: (userId, oldHash, newHash) =>
          sql
            .rows(
              (q) => q`update app_user set password_hash = ${newHash}
                        where id = ${userId} and password_hash = ${oldHash}`,
            )
            .pipe(Effect.asVoid),
        recordPrompt: (userId) => sql.rows((q) => q`select record_prompt(${userId})`).pipe(Effect.asVoid),
        endOldSessions: (userId, keep) =>
          sql
            // The statement also returns a row if exactly `keep` sessions are open, because an earlier attempt may
            // have ended the older sessions and its response may have been lost.
            .rows<OldSessionsEnded>(
              (q) => q`select events, session_ids from end_old_sessions(${userId}, ${keep})`,
            )
            .pipe(Effect.map((rows) => rows[0])),
        endSessions: <Keep>(userId: string, reason: string, keep: Keep) =>
          sql.write.rows<{ ended: SessionsEnded | null }, Keep>(
            (q) => q`select end_sessions(${userId}, ${reason}) as ended`,
            { keep, when: (q) => q`effect.ended is not null` },
          ),
      })
    }),
  )
}
