import { Context, Effect, Layer } from "effect"
import { type Unavailable, Unprocessable } from "../../schema/errors.ts"
import type { DisplayUser } from "../../schema/user.ts"
import { Sql } from "../store/sql.ts"
import { CustodialKeys } from "./custodial-keys.ts"

/** The key an id is bound to: one the user has, or one the service keeps for them. */
export class OwnedKeys extends Context.Service<
  OwnedKeys,
  {
    choose(
      user: DisplayUser,
      wanted: string | undefined,
    ): Effect.Effect<string, Unprocessable | Unavailable>
  }
>()("directory/OwnedKeys") {
  static readonly layer = Layer.effect(
    OwnedKeys,
    Effect.gen(function* () {
      const sql = yield* Sql
      const custodial = yield* CustodialKeys

      // Two first checkouts at once make one key: the second finds the first's.
      const make = Effect.fnUntraced(function* (userId: string) {
        const { pubkey, sealedKey } = yield* custodial.make
        yield* sql.rows(
          (q) => q`insert into pubkey (pubkey, user_id, sealed_key)
                   select ${pubkey}, u.id, ${sealedKey} from app_user u where u.id = ${userId}
                      and not exists (select 1 from pubkey k where k.user_id = u.id)
                   on conflict (pubkey) do nothing`,
        )
        const [first] = yield* sql.rows<{ pubkey: string }>(
          (q) => q`select pubkey from pubkey where user_id = ${userId} order by created_at, pubkey limit 1`,
        )
        return first?.pubkey ?? pubkey
      })

      return OwnedKeys.of({
        choose: Effect.fnUntraced(function* (user, wanted) {
          if (wanted === undefined) return user.pubkeys[0] ?? (yield* make(user.id))
          const key = wanted.toLowerCase()
          if (user.pubkeys.includes(key)) return key
          return yield* new Unprocessable({
            error: "The pubkey is not one of yours. Add it first.",
            fields: { pubkey: [{ code: "unknown", message: "not a key of this user" }] },
          })
        }),
      })
    }),
  )
}
