import { Context, Effect, Layer } from "effect"
import type { ChannelPosition } from "../../actors/ports.ts"
import type { Role } from "../../schema/accounts/scope.ts"
import type { TwoFactorProvider } from "../../schema/accounts/user.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { type CustodialKey, CustodialKeys } from "../crypto/custodial-keys.ts"
import { Sql } from "../postgres/sql.ts"
import type { SqlRefused } from "../postgres/sql-failures.ts"
import type { OutboxRow } from "../turns/outbox.ts"
import type { AccountName } from "./account-name.ts"

/**
 * The data of a user that login needs. It contains the password hash, so it must not be sent to clients as a whole.
 */
export interface Account {
  readonly id: string
  readonly email: string | null
  readonly role: Role
  readonly epoch: number
  readonly active: boolean
  readonly password_hash: string | null
  readonly email_verified: boolean
  /**
   * The account was created for the recipient of a transfer or lootbox. Nobody has registered it or confirmed its
   * email yet.
   */
  readonly invited: boolean
  /** The confirmed two-factor providers. The default provider is the first one. */
  readonly providers: ReadonlyArray<TwoFactorProvider>
  /** The user was not asked within the last 30 days to set up a second factor. */
  readonly prompt_is_due: boolean
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
     * registered instead. Returns the id of the user.
     */
    register(account: NewAccount): Effect.Effect<string, Unavailable | SqlRefused>
    /**
     * Makes the user with this email an active administrator with a confirmed email, and creates the user if there is
     * none. The password is replaced with `wantedHash` only if the stored hash is still `storedHash`.
     */
    putAdmin(
      email: string,
      hashes: { readonly storedHash: string | null; readonly wantedHash: string },
    ): Effect.Effect<void, Unavailable>
    /**
     * Changes an account. Returns undefined if the stored password is no longer `old_hash`, or if the account was
     * deleted. The result has `epoch` and `events` only if a new password ended the user's sessions.
     */
    update(change: AccountChange): Effect.Effect<Partial<SessionsEnded> | undefined, Unavailable | SqlRefused>
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
    endSessions(userId: string, reason: string): Effect.Effect<SessionsEnded | undefined, Unavailable>
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
        register: Effect.fnUntraced(function* (account) {
          const given = JSON.stringify({ ...account, key: storedKey(yield* custodial.make) })
          const [row] = yield* sql.attempt<{ user: { id: string } }>(
            (q) => q`select register_user(${given}::text::jsonb) as user`,
          )
          return row?.user.id ?? account.id
        }),
        putAdmin: Effect.fnUntraced(function* (email, { storedHash, wantedHash }) {
          const key = JSON.stringify(storedKey(yield* custodial.make))
          yield* sql.rows(
            (q) => q`select ensure_admin(${email}, ${storedHash}, ${wantedHash}, ${key}::text::jsonb)`,
          )
        }),
        update: (change) =>
          sql
            .attempt<{ done: Partial<SessionsEnded> | null }>(
              (q) => q`select update_account(${JSON.stringify(change)}::text::jsonb) as done`,
            )
            .pipe(Effect.map((rows) => rows[0]?.done ?? undefined)),
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
              (q) => q`
                with open as materialized (
                  select id, version, row_number() over (partition by status = 'Pending' order by updated_at desc) as place from entity
                   where kind = 'session' and owner_id = ${userId} and status not in ('Revoked', 'Expired')
                ), ended as (
                  update entity e set status = 'Revoked', state = jsonb_set(e.state, '{value}', '"Revoked"'),
                         version = e.version + 1, turn = gen_random_uuid(), due_at = null, updated_at = now()
                    from open
                   where e.kind = 'session' and e.id = open.id and e.version = open.version and open.place > ${keep}
                  returning e.id
                )
                select put_events(coalesce((select jsonb_agg(jsonb_build_object('channel', ${`session:${userId}`}::text,
                         'type', 'session.logged_out', 'data', jsonb_build_object('session_id', id, 'reason', 'too_many_sessions')))
                         from ended), '[]')) as events, array(select id::text from ended) as session_ids
                 where exists (select 1 from open where place >= ${keep})`,
            )
            .pipe(Effect.map((rows) => rows[0])),
        endSessions: (userId, reason) =>
          sql
            .rows<{ ended: SessionsEnded | null }>(
              (q) => q`select end_sessions(${userId}, ${reason}) as ended`,
            )
            .pipe(Effect.map((rows) => rows[0]?.ended ?? undefined)),
      })
    }),
  )
}
