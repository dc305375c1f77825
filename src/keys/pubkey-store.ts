import { Context, Effect, Layer } from "effect"
import { fieldFault, NotFound, type Unavailable, Unprocessable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { invalidating } from "../cluster/invalidate-after-unknown-outcome.ts"
import { accountTopic } from "../cluster/topic-names.ts"
import { Sql } from "../postgres/sql.ts"
import { type CustodialKey, CustodialKeys } from "./custodial-keys.ts"

const maxPubkeysPerUser = 200

/** The keys a user may own ids with, oldest first. */
export class Pubkeys extends Context.Service<
  Pubkeys,
  {
    list(userId: string): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** `preferred` when it is the user's, else their oldest key. */
    findFirst(userId: string, preferred: string | null): Effect.Effect<string | undefined, Unavailable>
    /** A key of the user's own; its private half never comes here. Added twice it stays one key. */
    add(userId: string, pubkey: string): Effect.Effect<string, NotFound | Unprocessable | Unavailable>
    /** The user has shown to hold the private half: whoever else has added the key, and owns nothing with it, loses it. */
    freeFor(userId: string, pubkey: string): Effect.Effect<void, Unavailable>
    /** A new custodial wallet. */
    generate(userId: string): Effect.Effect<string, NotFound | Unprocessable | Unavailable>
    /** Stores a custodial key of an existing user. Neither counts their keys nor invalidates caches. */
    addCustodial(userId: string, key: CustodialKey): Effect.Effect<void, Unavailable>
  }
>()("directory/Pubkeys") {
  static readonly layer = Layer.effect(
    Pubkeys,
    Effect.gen(function* () {
      const sql = yield* Sql
      const bus = yield* Bus
      const custodial = yield* CustodialKeys

      const list = (userId: string) =>
        sql
          .rows<{ pubkey: string }>(
            (q) => q`select pubkey from pubkey where user_id = ${userId} order by created_at, pubkey`,
          )
          .pipe(Effect.map((rows) => rows.map(({ pubkey }) => pubkey)))

      const put = Effect.fnUntraced(function* (userId: string, pubkey: string, sealedKey: string | null) {
        const [row] = yield* sql
          .rows<{ user_exists: boolean; holder: string | null }>(
            (q) => q`select * from put_pubkey(${userId}, ${pubkey}, ${sealedKey}, ${maxPubkeysPerUser})`,
          )
          .pipe(invalidating(bus.invalidate(accountTopic, [userId]), sql.statementTimeoutMs))
        if (row!.holder === userId) return pubkey
        if (!row!.user_exists) return yield* new NotFound({ error: "There is no such user." })
        if (row!.holder === null) {
          return yield* fieldFault("pubkey", "too_many", `A user has at most ${maxPubkeysPerUser} keys.`)
        }
        return yield* new Unprocessable({
          error: "This key is registered already.",
          fields: { pubkey: [{ code: "uniqueness", message: "already registered" }] },
        })
      })

      const generate = Effect.fnUntraced(function* (userId: string) {
        const key = yield* custodial.make
        return yield* put(userId, key.pubkey, key.sealedKey)
      })

      return Pubkeys.of({
        list,
        findFirst: (userId, preferred) =>
          sql
            .rows<{ pubkey: string }>(
              (q) => q`select pubkey from pubkey where user_id = ${userId}
                        order by pubkey is distinct from ${preferred}, created_at, pubkey limit 1`,
            )
            .pipe(Effect.map((rows) => rows[0]?.pubkey)),
        add: (userId, pubkey) => put(userId.toLowerCase(), pubkey, null),
        freeFor: Effect.fnUntraced(function* (userId, pubkey) {
          const rows = yield* sql.rows<{ user_id: string }>(
            (q) => q`select user_id from free_pubkey(${userId}, ${pubkey}) as user_id`,
          )
          yield* bus.invalidate(
            accountTopic,
            rows.map((row) => row.user_id),
          )
        }),
        generate,
        addCustodial: (userId, { pubkey, sealedKey }) =>
          sql
            .rows(
              (
                q,
              ) => q`insert into pubkey (pubkey, user_id, sealed_key) values (${pubkey}, ${userId}, ${sealedKey})
                       on conflict (pubkey) do nothing`,
            )
            .pipe(Effect.asVoid),
      })
    }),
  )
}
