import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { accountTopic } from "../cluster/topic-names.ts"
import { Sql } from "../postgres/sql.ts"
import { CustodialKeys } from "./custodial-keys.ts"

/** The key an id is bound to when its owner names none. Whoever has no key yet gets one the service keeps. */
export class FirstKeys extends Context.Service<
  FirstKeys,
  {
    /** `preferred` when it is the user's, else their oldest key. */
    of(userId: string, preferred?: string | null): Effect.Effect<string, Unavailable>
  }
>()("directory/FirstKeys") {
  static readonly layer = Layer.effect(
    FirstKeys,
    Effect.gen(function* () {
      const sql = yield* Sql
      const bus = yield* Bus
      const keys = yield* CustodialKeys

      const find = (userId: string, preferred: string | null) =>
        sql
          .rows<{ pubkey: string }>(
            (q) => q`select pubkey from pubkey where user_id = ${userId}
                      order by pubkey is distinct from ${preferred}, created_at, pubkey limit 1`,
          )
          .pipe(Effect.map((rows) => rows[0]?.pubkey))

      return FirstKeys.of({
        of: Effect.fnUntraced(function* (userId, preferred = null) {
          const known = yield* find(userId, preferred)
          if (known !== undefined) return known
          const { pubkey, sealedKey } = yield* keys.make
          // Two requests at once may both add a key; both are good, and the older is the first from then on.
          yield* sql.rows(
            (
              q,
            ) => q`insert into pubkey (pubkey, user_id, sealed_key) values (${pubkey}, ${userId}, ${sealedKey})
                     on conflict (pubkey) do nothing`,
          )
          yield* bus.invalidate(accountTopic, [userId])
          return (yield* find(userId, preferred)) ?? pubkey
        }),
      })
    }),
  )
}
