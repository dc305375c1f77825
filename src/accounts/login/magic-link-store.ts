import { Effect } from "effect"
import { type ExpiredRows, expiredADayAgo } from "../../postgres/prune.ts"
import { Sql } from "../../postgres/sql.ts"
import type { OutboxRow } from "../../turns/outbox.ts"
import type { SessionsEnded } from "../account-store.ts"

/**
 * `login` logs in a user without a password. `welcome` does the same and is mailed at registration. `confirm`
 * confirms the email of a user with a password, or a new email of any user. A user with a password gets only
 * `confirm` links.
 */
export type LinkPurpose = "login" | "welcome" | "confirm"

interface NewMagicLink {
  readonly tokenHash: string
  /** Null if there is no user who may get a link. Then the link is stored, but no mail is sent. */
  readonly userId: string | null
  readonly email: string
  readonly purpose: LinkPurpose
  readonly seconds: number
}

interface FoundLink {
  readonly userId: string
  readonly email: string
  readonly purpose: LinkPurpose
  readonly keyIds: ReadonlyArray<string>
}

interface ConsumedLink {
  readonly released?: boolean
  readonly needs_password?: boolean
  readonly ended: SessionsEnded | null
  readonly api_keys: ReadonlyArray<string>
  /** The events of transfers that wait for the confirmed address. */
  readonly events?: SessionsEnded["events"]
}

export const makeMagicLinkStore = Sql.useSync((sql) => ({
  /** Stores the link and its mail in one statement. */
  put: ({ email, purpose, seconds, tokenHash, userId }: NewMagicLink, mail: ReadonlyArray<OutboxRow>) =>
    sql.rows(
      (q) => q`with made as (
                 insert into magic_link (token_hash, user_id, email, purpose, expires_at)
                 values (${tokenHash}, ${userId}, ${email}, ${purpose}, now() + make_interval(secs => ${seconds}))
                 on conflict do nothing returning user_id)
               select put_mail(${JSON.stringify(mail)}::text::jsonb) from made where user_id is not null`,
    ),
  find: (hashes: ReadonlyArray<string>) =>
    sql
      .rows<FoundLink>(
        (q) => q`select m.user_id as "userId", m.email, m.purpose,
                         array(select k.id from api_key k where k.user_id = m.user_id) as "keyIds"
                    from magic_link m join app_user u on u.id = m.user_id and u.email = m.email
                  where m.token_hash = any(${hashes as string[]}) and m.used_at is null and m.expires_at > now()`,
      )
      .pipe(Effect.map((rows) => rows[0])),
  /**
   * Uses the link up. Returns undefined if the link is not valid. `known` lists the users whose password or session
   * the caller has shown.
   */
  consume: (hashes: ReadonlyArray<string>, attempt: string, known: ReadonlyArray<string>) =>
    sql
      .rows<{ done: ConsumedLink | null }>(
        (q) => q`select consume_magic_link(${hashes as string[]}, ${attempt}, ${known as string[]}) as done`,
      )
      .pipe(Effect.map((rows) => rows[0]?.done ?? undefined)),
}))

export const expiredMagicLinks: ExpiredRows = {
  table: "magic_link",
  key: ["token_hash"],
  isExpired: expiredADayAgo,
}
