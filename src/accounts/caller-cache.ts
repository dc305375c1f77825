import { Context, Effect, Layer } from "effect"
import type { Role } from "../../schema/accounts/scope.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { invalidating } from "../cluster/invalidate-after-unknown-outcome.ts"
import { InvalidatedCache } from "../cluster/invalidated-cache.ts"
import { userTopic } from "../cluster/topic-names.ts"
import { AppConfig, type Config } from "../config/config.ts"
import { makeFindCallerRow } from "./caller-store.ts"

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

const capacity = 50_000
/** How far the clocks of those who sign and those who check may be apart, and more. */
const leewaySeconds = 300

/** How long ended sessions and grants are asked about: their access tokens may be around for as long. */
export const lookBackSeconds = ({ accessTokenSeconds }: Pick<Config, "accessTokenSeconds">): number =>
  accessTokenSeconds + leewaySeconds

/** Callers by user id, remembered until a commit that changes one says so on the bus. */
export class CallerCache extends Context.Service<
  CallerCache,
  {
    /** From memory, when memory may be trusted. */
    remembered(userId: string): Caller | undefined
    find(userId: string): Effect.Effect<Caller | undefined, Unavailable>
    /** Returns once no process counts on what the user was before. */
    changed(userId: string): Effect.Effect<void>
    /** The same after a statement that takes something from the user, whether or not its answer came. */
    invalidating(userId: string): <A, E, R>(statement: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("directory/CallerCache") {
  static readonly layer = Layer.effect(
    CallerCache,
    Effect.gen(function* () {
      const bus = yield* Bus
      const config = yield* AppConfig
      const findRow = yield* makeFindCallerRow(lookBackSeconds(config))
      const memory = new InvalidatedCache<Caller>(bus, { topics: [userTopic], capacity })

      const find = Effect.fnUntraced(function* (userId: string) {
        const remember = memory.watch()
        const row = yield* findRow(userId)
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

      return CallerCache.of({
        remembered: (userId) => memory.recall(userId),
        find,
        changed,
        invalidating: (userId) => invalidating(changed(userId), config.statementTimeoutMs),
      })
    }),
  )
}
