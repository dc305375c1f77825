import { Effect } from "effect"
import type { ExpiredRows } from "../../postgres/prune.ts"
import { Sql } from "../../postgres/sql.ts"
import type { OutboxRow } from "../../turns/outbox.ts"
import type { SessionsEnded, SessionsReplaced, SessionUser } from "../account-store.ts"

/**
 * `login` logs in a user who has no password. `welcome` does the same and is mailed at registration. `confirm`
 * confirms the email of a user who has a password, or a new email of any user. A user who has a password gets only
 * `confirm` links.
 */
export type LinkPurpose = "login" | "welcome" | "confirm"
/** `reset` sets a new password. Its token has a different hash than the tokens of the other links. */
type StoredPurpose = LinkPurpose | "reset"

interface NewMagicLink {
  readonly token_hash: string
  /** Null if there is no user who may get a link. Then the link is stored, but no mail is sent. */
  readonly user_id: string | null
  readonly email: string
  readonly purpose: StoredPurpose
  readonly seconds: number
}

interface FoundLink {
  readonly userId: string
  readonly email: string
  readonly purpose: LinkPurpose
  /** Whether the account has a password now. */
  readonly hasPassword: boolean
  readonly keyIds: ReadonlyArray<string>
}

/** The result of using a link. It has `user` for a new session, unless it has `released` or `needs_password`. */
export interface ConsumedLink {
  readonly user?: SessionUser
  readonly released?: boolean
  readonly needs_password?: boolean
  readonly ended: SessionsEnded | null
  readonly api_keys: ReadonlyArray<string>
  /** The events of transfers that wait for the confirmed address. */
  readonly events?: SessionsEnded["events"]
}

export const makeMagicLinkStore = Sql.useSync((sql) => ({
  /** Stores the link and its mail in one statement. Without a user, the mail is not stored. */
  put: <Keep>(link: NewMagicLink, mail: ReadonlyArray<OutboxRow>, keep: Keep) =>
    sql.write.rows<{ stored: boolean }, Keep>(
      (q) =>
        q`select put_magic_link(${JSON.stringify(link)}::text::jsonb, ${JSON.stringify(mail)}::text::jsonb) as stored`,
      { keep },
    ),
  find: (hashes: ReadonlyArray<string>) =>
    sql
      .rows<FoundLink>(
        (
          q,
        ) => q`select m.user_id as "userId", m.email, m.purpose, u.password_hash is not null as "hasPassword",
                         array(select k.id from api_key k where k.user_id = m.user_id) as "keyIds"
                    from magic_link m join app_user u on u.id = m.user_id and u.email = m.email
                  where m.token_hash = any(${hashes as string[]}) and m.used_at is null and m.expires_at > now()`,
      )
      .pipe(Effect.map((rows) => rows[0])),
  /**
   * Uses the link up, unless the result has `needs_password`. `done` is null if the link is not valid. `known` lists the
   * users whose password, session or registration cookie the caller has shown.
   */
  consume: <Keep>(hashes: ReadonlyArray<string>, attempt: string, known: ReadonlyArray<string>, keep: Keep) =>
    sql.write.rows<{ done: ConsumedLink | null }, Keep>(
      (q) => q`select consume_magic_link(${hashes as string[]}, ${attempt}, ${known as string[]}) as done`,
      { keep, when: (q) => q`effect.done is not null and not effect.done ? 'needs_password'` },
    ),
  /** Finds the user of a valid `reset` link. */
  findReset: (hashes: ReadonlyArray<string>) =>
    sql
      .rows<{ userId: string; email: string }>(
        (q) => q`select u.id as "userId", u.email
                   from magic_link m join app_user u on u.id = m.user_id and u.email = m.email
                  where m.token_hash = any(${hashes as string[]}) and m.purpose = 'reset'
                    and m.used_at is null and m.expires_at > now() and u.email_verified_at is not null
                    and u.deactivated_at is null and u.deleted_at is null`,
      )
      .pipe(Effect.map((rows) => rows[0])),
  /**
   * Uses a `reset` link up, stores the new password, ends the user's sessions and stores the mails. `ended` is null if
   * the link is not valid.
   */
  resetPassword: <Keep>(
    hashes: ReadonlyArray<string>,
    attempt: string,
    passwordHash: string,
    mail: ReadonlyArray<OutboxRow>,
    keep: Keep,
  ) =>
    sql.write.rows<{ ended: SessionsReplaced | null }, Keep>(
      (q) => q`select reset_password(${hashes as string[]}, ${attempt}, ${passwordHash},
                                     ${JSON.stringify(mail)}::text::jsonb) as ended`,
      { keep, when: (q) => q`effect.ended is not null` },
    ),
}))

export const expiredMagicLinks = (keptHours: number): ExpiredRows => ({
  table: "magic_link",
  time: (q) => q`expires_at`,
  isExpired: (q) => q`expires_at < now() - make_interval(hours => ${keptHours})`,
})
