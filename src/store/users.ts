import { Context, Effect, Layer } from "effect"
import { NotFound, type Unavailable } from "../../schema/errors.ts"
import type { DisplayUser } from "../../schema/user.ts"
import { Sql } from "./sql.ts"

/** Users as answers show them. One statement builds the whole view, for one user or for many. */
export class Users extends Context.Service<
  Users,
  {
    find(id: string): Effect.Effect<DisplayUser | undefined, Unavailable>
    get(id: string): Effect.Effect<DisplayUser, NotFound | Unavailable>
    findMany(ids: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, DisplayUser>, Unavailable>
  }
>()("directory/Users") {
  static readonly layer = Layer.effect(
    Users,
    Effect.gen(function* () {
      const sql = yield* Sql

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
          return (yield* find(id)) ?? (yield* new NotFound({ error: "There is no such user." }))
        }),
        findMany,
      })
    }),
  )
}
