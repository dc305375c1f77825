import { Context, Effect, Layer } from "effect"
import type { DisplayUser } from "../../schema/accounts/user.ts"
import { NotFound, type Unavailable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { InvalidatedCache } from "../cluster/invalidated-cache.ts"
import { accountTopic, userTopic } from "../cluster/topic-names.ts"
import { Sql } from "../postgres/sql.ts"

const capacity = 10_000
/** A cached user is used for at most this long, because `two_factor_should_prompt` depends on the current time. */
const keepMs = 60_000

interface Entry {
  readonly user: DisplayUser
  readonly untilMs: number
}

/** Reads users in the form that responses show. One statement reads all data of one user or of many users. */
export class Users extends Context.Service<
  Users,
  {
    find(id: string): Effect.Effect<DisplayUser | undefined, Unavailable>
    get(id: string): Effect.Effect<DisplayUser, NotFound | Unavailable>
    findMany(ids: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, DisplayUser>, Unavailable>
    /** Returns the cached user. Returns undefined if the user is not cached, or while the cache may be outdated. */
    remembered(id: string): DisplayUser | undefined
    /**
     * Call this before reading users. The returned function caches a user, unless any user has changed since the
     * call.
     */
    watch(): (user: DisplayUser) => void
  }
>()("directory/Users") {
  static readonly layer = Layer.effect(
    Users,
    Effect.gen(function* () {
      const sql = yield* Sql
      const bus = yield* Bus
      const memory = new InvalidatedCache<Entry>(bus, { topics: [accountTopic, userTopic], capacity })

      const findMany = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
        if (ids.length === 0) return new Map<string, DisplayUser>()
        const rows = yield* sql.rows<{ view: DisplayUser }>(
          (q) => q`select display_user(u) as view from app_user u where u.id = any(${ids as string[]})`,
        )
        return new Map(rows.map(({ view }) => [view.id, view]))
      })
      const find = (id: string) => Effect.map(findMany([id]), (users) => users.get(id))

      return Users.of({
        find,
        get: Effect.fnUntraced(function* (id) {
          return (yield* find(id)) ?? (yield* new NotFound({ error: "User not found." }))
        }),
        findMany,
        remembered: (id) => {
          const entry = memory.recall(id)
          return entry !== undefined && entry.untilMs > performance.now() ? entry.user : undefined
        },
        watch: () => {
          const remember = memory.watch()
          return (user) => remember(user.id, { user, untilMs: performance.now() + keepMs })
        },
      })
    }),
  )
}
