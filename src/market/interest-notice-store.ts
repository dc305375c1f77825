import { Effect } from "effect"
import type { ChannelPosition } from "../../actors/ports.ts"
import type { ExpiredRows } from "../postgres/prune.ts"
import { Sql } from "../postgres/sql.ts"

export interface FreedId {
  readonly canonical: string
  readonly first_told: boolean
}

interface SentNotices {
  readonly canonical: string
  readonly lease: string
  readonly users: ReadonlyArray<string>
  readonly mail: unknown
  /** True if no more users are waiting for a notice about this id. */
  readonly done: boolean
  readonly head_start_seconds: number
}

/** Stores which ids became free, and which users were notified about them. */
export const makeInterestNoticeStore = Effect.map(Sql, (sql) => ({
  /**
   * Leases up to `maxIds` freed ids for which notices are due now, and returns these ids. During the lease, no other
   * process handles them.
   */
  leaseFreed: (lease: string, maxIds: number, leaseSeconds: number) =>
    sql.rows<FreedId>(
      (q) => q`select canonical, first_told from take_freed(${lease}, ${maxIds}, ${leaseSeconds})`,
    ),
  /**
   * Returns active users who have an interest in the id and had no notice about it within the quiet period, oldest
   * interest first. `email` is null if the user has no verified email. As long as no user was notified about the id,
   * users with an unverified email are at the end of the list.
   */
  findRecipients: (
    { canonical, first_told }: FreedId,
    { limit, quietSeconds }: { readonly limit: number; readonly quietSeconds: number },
  ) =>
    sql.rows<{ user_id: string; email: string | null }>(
      (q) => q`select u.id as user_id, case when u.email_verified_at is not null then u.email end as email
                 from user_interest i
                 join app_user u on u.id = i.user_id and u.deactivated_at is null and u.deleted_at is null
                 left join interest_notice n on n.user_id = i.user_id and n.canonical = i.canonical
                where i.canonical = ${canonical}
                  and coalesce(n.told_at < now() - make_interval(secs => ${quietSeconds}), true)
                order by ${first_told ? q`` : q`u.email is not null and u.email_verified_at is null,`}
                      i.created_at, i.id limit ${limit}`,
    ),
  /**
   * Ends the lease, records that the users were notified, queues the mail and stores the events. Returns the positions
   * of the events. If the id is claimed again, the call notifies no user and removes the id from the freed ids. A
   * repeated call does nothing, because the lease has ended.
   */
  saveNotices: (sent: SentNotices) =>
    sql
      .rows<{ events: ReadonlyArray<ChannelPosition> }>(
        (q) => q`select tell_freed(${JSON.stringify(sent)}::text::jsonb) as events`,
      )
      .pipe(Effect.map(([row]) => row?.events ?? [])),
}))

/** Notices that no longer prevent another one. The quiet period is an hour. */
export const oldInterestNotices: ExpiredRows = {
  table: "interest_notice",
  time: (q) => q`told_at`,
  isExpired: (q) => q`told_at < now() - interval '1 day'`,
}
