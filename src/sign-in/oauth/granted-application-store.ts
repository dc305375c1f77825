import { Context, Effect, Layer } from "effect"
import type { Written } from "../../../actors/operation.ts"
import { oauthScopes } from "../../../schema/accounts/scope.ts"
import { NotFound, type Unavailable } from "../../../schema/errors.ts"
import { arrayList, type Page, type PageRequest } from "../../../schema/paging.ts"
import type { GrantedApplication } from "../../../schema/sign-in/granted-application.ts"
import { CallerCache } from "../../accounts/caller-cache.ts"
import { SecurityLog } from "../../accounts/security-log/security-log.ts"
import type { Client } from "../../postgres/client.ts"
import type { WriteOutcome } from "../../postgres/guarded-write.ts"
import { makePages } from "../../postgres/pages.ts"
import { Sql } from "../../postgres/sql.ts"

type Revoked = WriteOutcome<
  { readonly ended: number; readonly name: string | null },
  { readonly userId: string; readonly clientId: string }
>

/** The list of applications, the newest access first. */
export const grantedList = arrayList("granted_applications", "Desc", ["time", "text"], 200)

/** The user's grants that an application can still use. */
const validGrants = (q: Client, userId: string) =>
  q`oauth_grant g where g.user_id = ${userId} and g.revoked_at is null and g.client_id is not null and g.expires_at > now()
      and g.epoch = (select token_epoch from app_user where id = ${userId})`

/** Lists and ends the access that users gave to applications. Each sign-in with an application creates a grant. */
export class GrantedApplications extends Context.Service<
  GrantedApplications,
  {
    list(userId: string, page: PageRequest): Effect.Effect<Page<GrantedApplication>, Unavailable>
    /** Revokes all grants of the application, and the codes that it has not exchanged yet. */
    revoke(userId: string, clientId: string): Effect.Effect<Written<Revoked>, NotFound | Unavailable>
    /** Records that the access was revoked. */
    revoked(outcome: Revoked): Effect.Effect<void>
  }
>()("directory/GrantedApplications") {
  static readonly layer = Layer.effect(
    GrantedApplications,
    Effect.gen(function* () {
      const sql = yield* Sql
      const pages = yield* makePages
      const callers = yield* CallerCache
      const securityLog = yield* SecurityLog

      return GrantedApplications.of({
        list: (userId, page) =>
          Effect.map(
            pages.read<Omit<GrantedApplication, "scopes">>(page, grantedList.sorts.only, (q) => ({
              ranges: [
                q`(select g.client_id, min(g.created_at) as granted_at from ${validGrants(q, userId)}
                    group by g.client_id) granted where true`,
              ],
              keys: [q`granted_at`, q`client_id`],
              item: q`select c.client_id, c.name, a.* from oauth_client c cross join lateral (
                        select array_agg(distinct g.emoji_id) as emoji_ids, min(g.created_at) as granted_at,
                               max(g.rotated_at) as last_used_at, max(g.expires_at) as expires_at
                          from ${validGrants(q, userId)} and g.client_id = c.client_id) a
                       where c.client_id = p.k1 and a.granted_at is not null`,
            })),
            (found) => ({
              ...found,
              rows: found.rows.map((application) => ({ ...application, scopes: [...oauthScopes] })),
            }),
          ),
        revoke: Effect.fnUntraced(function* (userId, clientId) {
          const written = yield* sql.write
            .rows<Revoked["rows"][number], Revoked["keep"]>(
              (q) => q`select r.ended, c.name
                         from (select revoke_application(${userId}, ${clientId}) as ended) r
                              left join oauth_client c on c.client_id = ${clientId}`,
              { keep: { userId, clientId }, when: (q) => q`effect.ended > 0` },
            )
            .pipe(callers.invalidating(userId))
          if (written.outcome.rows[0]?.ended) return written
          return yield* new NotFound({
            error: "This application has no access to your account. Its access may have ended already.",
          })
        }),
        revoked: ({ keep: { clientId, userId }, rows }) =>
          securityLog.record({
            event: "application.revoked",
            userId,
            details: { client_id: clientId, name: rows[0]?.name ?? null },
          }),
      })
    }),
  )
}
