import { Effect } from "effect"
import type { Role } from "../../schema/accounts/scope.ts"
import { Sql } from "../postgres/sql.ts"

interface CallerRow {
  readonly id: string
  readonly role: Role
  readonly epoch: number
  readonly active: boolean
  readonly two_factor: boolean
  readonly organizations: Readonly<Record<string, Role>>
  readonly revoked: ReadonlyArray<string>
}

/**
 * Creates the function that reads the data that decides whether a user's token is valid. The data includes the ids of
 * sessions and grants that were revoked in the last `endedWithinSeconds` seconds.
 */
export const makeFindCallerRow = (endedWithinSeconds: number) =>
  Sql.useSync(
    (sql) => (userId: string) =>
      sql
        .rows<CallerRow>(
          (q) => q`select u.id, u.role, u.token_epoch as epoch,
                          u.deactivated_at is null and u.deleted_at is null as active,
                          exists (select 1 from two_factor t where t.user_id = u.id and t.confirmed_at is not null) as two_factor,
                          (select coalesce(jsonb_object_agg(m.organization_id, m.role), '{}')
                             from organization_member m where m.user_id = u.id) as organizations,
                          array(select e.id::text from entity e
                                 where e.kind = 'session' and e.owner_id = u.id and e.status = 'Revoked'
                                   and e.updated_at > now() - make_interval(secs => ${endedWithinSeconds})
                                union all
                                select g.id::text from oauth_grant g
                                 where g.user_id = u.id and g.revoked_at > now() - make_interval(secs => ${endedWithinSeconds})) as revoked
                     from app_user u where u.id = ${userId}`,
        )
        .pipe(Effect.map((rows) => rows[0])),
  )
