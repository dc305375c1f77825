import { Effect } from "effect"
import type { ExpiredRows } from "../../postgres/prune.ts"
import { Sql } from "../../postgres/sql.ts"

export type Redemption = "redeemed" | "reused" | "unknown"

export interface Rotation {
  readonly outcome: "rotated" | "reused" | "gone"
  readonly emoji_id: string
  readonly epoch: number
  readonly generation: number
}

/** Stores authorization codes by their `jti`, and the grants that are created when codes are redeemed. */
export const makeAuthorizationCodeStore = Sql.useSync((sql) => ({
  add: (code: {
    readonly jti: string
    readonly clientId: string
    readonly userId: string
    readonly seconds: number
  }) =>
    sql
      .rows(
        (q) => q`insert into authorization_code (jti, client_id, user_id, expires_at)
                 values (${code.jti}, ${code.clientId}, ${code.userId}, now() + make_interval(secs => ${code.seconds}))
                 on conflict do nothing`,
      )
      .pipe(Effect.asVoid),
  /** Creates a grant for an unused code. */
  redeem: <Keep>(
    jti: string,
    grant: {
      readonly id: string
      readonly clientId: string
      readonly emojiId: string
      readonly epoch: number
      readonly seconds: number
    },
    keep: Keep,
  ) =>
    sql.write.rows<{ outcome: Redemption }, Keep>(
      (q) => q`select exchange_code(${jti}, ${grant.clientId}, ${grant.id}, ${grant.emojiId}, ${grant.epoch},
                                    ${grant.seconds}) as outcome`,
      { keep, when: (q) => q`effect.outcome = 'redeemed'` },
    ),
  /** Revokes the grant that was created for a code. Returns no row if there is none. */
  revokeGrantOfCode: <Keep>(jti: string, clientId: string, keep: Keep) =>
    sql.write.rows<{ outcome: Redemption }, Keep>(
      (q) => q`update oauth_grant set revoked_at = coalesce(revoked_at, now())
                where id = (select grant_id from authorization_code where jti = ${jti} and client_id = ${clientId})
            returning 'reused' as outcome`,
      { keep },
    ),
  /**
   * Starts the next generation of a grant's refresh token. The previous token gets the same generation until
   * the new one is first used, at most for 60 seconds. An older token changes nothing; its outcome is `reused`.
   */
  rotateGrant: <Keep>(
    grant: {
      readonly id: string
      readonly clientId: string
      readonly generation: number
      readonly seconds: number
    },
    keep: Keep,
  ) =>
    sql.write.rows<{ done: Rotation }, Keep>(
      (q) =>
        q`select continue_grant(${grant.id}, ${grant.clientId}, ${grant.generation}, ${grant.seconds}) as done`,
      { keep, when: (q) => q`effect.done->>'outcome' = 'rotated'` },
    ),
  /** Revokes a grant whose refresh token was used again. */
  revokeGrant: <Keep>(id: string, clientId: string, keep: Keep) =>
    sql.write.rows<{ done: Rotation }, Keep>(
      (q) => q`update oauth_grant set revoked_at = coalesce(revoked_at, now())
                where id = ${id} and client_id = ${clientId}
            returning '{"outcome": "reused"}'::jsonb as done`,
      { keep },
    ),
}))

export const expiredAuthorizationCodes = (keptHours: number): ExpiredRows => ({
  table: "authorization_code",
  time: (q) => q`expires_at`,
  isExpired: (q) => q`expires_at < now() - make_interval(hours => ${keptHours})`,
})

/** Selects the rows that the cleanup deletes: grants that expired or were revoked more than `keptSeconds` ago. */
export const endedGrants = (keptSeconds: number): ExpiredRows => ({
  table: "oauth_grant",
  time: (q) => q`least(expires_at, revoked_at)`,
  isExpired: (q) => q`least(expires_at, revoked_at) < now() - make_interval(secs => ${keptSeconds})`,
})
