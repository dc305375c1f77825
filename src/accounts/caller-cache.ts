import { Context, Effect, Layer } from "effect"
import type { Role } from "../../schema/accounts/scope.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { InvalidatedCache } from "../cluster/invalidated-cache.ts"
import { userTopic } from "../cluster/topic-names.ts"
import { AppConfig } from "../config/read-config.ts"
import { lookBackSeconds } from "../config/session-retention.ts"
import { makeFindCallerRow } from "./caller-store.ts"

/** The data that decides whether a user's token is valid and what the token allows. */
export interface Caller {
  readonly id: string
  readonly role: Role
  readonly epoch: number
  readonly active: boolean
  readonly twoFactor: boolean
  readonly organizations: ReadonlyMap<string, Role>
  /** The ids of ended sessions and grants whose access tokens may not have expired yet. */
  readonly revokedSessions: ReadonlySet<string>
}

const capacity = 50_000

/** Finds callers by user id, and caches them until the bus announces a change of the user. */
export class CallerCache extends Context.Service<
  CallerCache,
  {
    /** Returns the cached caller. Returns undefined if the user is not cached, or while the cache may be outdated. */
    remembered(userId: string): Caller | undefined
    find(userId: string): Effect.Effect<Caller | undefined, Unavailable>
    /**
     * Returns a function that runs a statement that changes the user. When it is committed, no process caches the
     * earlier data of the user.
     */
    invalidating(
      userId: string,
    ): <A, E, R>(statement: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>
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

      return CallerCache.of({
        remembered: (userId) => memory.recall(userId),
        find,
        invalidating: (userId) => bus.invalidating({ [userTopic]: [userId] }),
      })
    }),
  )
}
