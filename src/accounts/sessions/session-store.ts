import { Effect } from "effect"
import type { DisplaySession } from "../../../schema/accounts/session.ts"
import type { ExpiredRows } from "../../postgres/prune.ts"
import { Sql } from "../../postgres/sql.ts"

/** Selects the rows that the cleanup deletes: sessions that ended more than `keptSeconds` ago. */
export const endedSessions = (keptSeconds: number): ExpiredRows => ({
  table: "entity",
  time: (q) => q`updated_at`,
  among: (q) => q`kind = 'session' and status in ('Revoked', 'Expired')`,
  isExpired: (q) => q`updated_at < now() - make_interval(secs => ${keptSeconds})`,
})

/** The last use of sessions that were not used for the lifetime of a refresh token. These sessions have ended. */
export const oldSessionUses = (refreshTokenSeconds: number): ExpiredRows => ({
  table: "session_use",
  time: (q) => q`used_at`,
  isExpired: (q) => q`used_at < now() - make_interval(secs => ${refreshTokenSeconds})`,
})

type ListedSession = Omit<DisplaySession, "current" | "device" | "address"> & {
  readonly device: string | null
  readonly address: string | null
}

/** More sessions than a user can have: complete logins and logins that wait for a code are limited separately. */
const maxListed = 500

export const makeSessionStore = Sql.useSync((sql) => ({
  /** Lists the open sessions of a user, the one that was used last first. */
  list: (userId: string) =>
    sql.rows<ListedSession>(
      (
        q,
      ) => q`select e.id, e.status, e.created_at, greatest(to_timestamp(c.rotated_ms / 1000), s.used_at) as last_used_at,
                      to_timestamp(c.expires_ms / 1000) as expires_at, c.device, c.address
                 from entity e left join session_use s on s.session_id = e.id,
              lateral (select (e.state#>>'{context,rotatedAt}')::float8 as rotated_ms,
                              (e.state#>>'{context,expiresAt}')::float8 as expires_ms,
                              e.state#>>'{context,device,name}' as device,
                              e.state#>>'{context,device,address}' as address) c
                where e.kind = 'session' and e.owner_id = ${userId} and e.status not in ('Revoked', 'Expired')
                  and c.expires_ms > extract(epoch from now()) * 1000
                order by last_used_at desc, e.id limit ${maxListed}`,
    ),
  /** Records that these sessions were used now. Ids without a session are ignored. */
  recordUses: (sessionIds: ReadonlyArray<string>) =>
    sql
      .rows(
        (q) => q`insert into session_use as s (session_id, used_at)
                 select e.id, now() from entity e
                  where e.kind = 'session' and e.id = any(${sessionIds as string[]}::uuid[]) order by e.id
                 on conflict (session_id) do update set used_at = excluded.used_at where s.used_at < excluded.used_at`,
      )
      .pipe(Effect.asVoid),
}))
