import { Context, Effect, Layer } from "effect"
import type { Role } from "../../schema/accounts/scope.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { telling } from "../cluster/invalidate-after-unknown-outcome.ts"
import { Memory } from "../cluster/invalidated-cache.ts"
import { userTopic } from "../cluster/topic-names.ts"
import { AppConfig, type Config } from "../config/config.ts"
import { Sql } from "../postgres/sql.ts"

/** What decides whether a user's token still counts, and for what. */
export interface Caller {
  readonly id: string
  readonly role: Role
  readonly epoch: number
  readonly active: boolean
  readonly twoFactor: boolean
  readonly organizations: ReadonlyMap<string, Role>
  /** Sessions ended early whose access tokens may not have run out yet. */
  readonly revokedSessions: ReadonlySet<string>
}

interface CallerRow {
  readonly id: string
  readonly role: Role
  readonly epoch: number
  readonly active: boolean
  readonly two_factor: boolean
  readonly organizations: Readonly<Record<string, Role>>
  readonly revoked: ReadonlyArray<string>
}

const capacity = 50_000
/** How far the clocks of those who sign and those who check may be apart, and more. */
const leewaySeconds = 300

/** How long ended sessions and grants are asked about: their access tokens may be around for as long. */
export const lookBackSeconds = ({ accessTokenSeconds }: Pick<Config, "accessTokenSeconds">): number =>
  accessTokenSeconds + leewaySeconds

/** Callers by user id, remembered until a commit that changes one says so on the bus. */
export class Callers extends Context.Service<
  Callers,
  {
    /** From memory, when memory may be trusted. */
    remembered(userId: string): Caller | undefined
    find(userId: string): Effect.Effect<Caller | undefined, Unavailable>
    /** Returns once no process counts on what the user was before. */
    changed(userId: string): Effect.Effect<void>
    /** The same after a statement that takes something from the user, whether or not its answer came. */
    telling(userId: string): <A, E, R>(statement: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("directory/Callers") {
  static readonly layer = Layer.effect(
    Callers,
    Effect.gen(function* () {
      const sql = yield* Sql
      const bus = yield* Bus
      const config = yield* AppConfig
      const endedWithin = lookBackSeconds(config)
      const memory = new Memory<Caller>(bus, { topics: [userTopic], capacity })

      const find = Effect.fnUntraced(function* (userId: string) {
        const remember = memory.watch()
        const [row] = yield* sql.rows<CallerRow>(
          (q) => q`select u.id, u.role, u.token_epoch as epoch,
                          u.deactivated_at is null and u.deleted_at is null as active,
                          exists (select 1 from two_factor t where t.user_id = u.id and t.confirmed_at is not null) as two_factor,
                          (select coalesce(jsonb_object_agg(m.organization_id, m.role), '{}')
                             from organization_member m where m.user_id = u.id) as organizations,
                          array(select e.id::text from entity e
                                 where e.kind = 'session' and e.owner_id = u.id and e.status = 'Revoked'
                                   and e.updated_at > now() - make_interval(secs => ${endedWithin})
                                union all
                                select g.id::text from oauth_grant g
                                 where g.user_id = u.id and g.revoked_at > now() - make_interval(secs => ${endedWithin})) as revoked
                     from app_user u where u.id = ${userId}`,
        )
        if (row === undefined) return undefined
        const caller: Caller = {
          id: row.id,
          role: row.role,
          epoch: row.epoch,
          active: row.active,
          twoFactor: row.two_factor,
          organizations: new Map(Object.entries(row.organizations)),
          revokedSessions: new Set(row.revoked),
        }
        remember(caller.id, caller)
        return caller
      })

      const changed = (userId: string) => bus.invalidate(userTopic, [userId])

      return Callers.of({
        remembered: (userId) => memory.recall(userId),
        find,
        changed,
        telling: (userId) => telling(changed(userId), config.statementTimeoutMs),
      })
    }),
  )
}
