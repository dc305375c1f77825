import { Context, Effect, Layer } from "effect"
import { fieldFault, NotFound, type Unavailable, Unprocessable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { invalidating } from "../cluster/invalidate-after-unknown-outcome.ts"
import { accountTopic } from "../cluster/topic-names.ts"
import { Sql } from "../postgres/sql.ts"
import { type CustodialKey, CustodialKeys } from "./custodial-keys.ts"

const maxPubkeysPerUser = 200

/** The public keys of users. A key can own ids. Lists of keys are ordered by age, oldest first. */
export class Pubkeys extends Context.Service<
  Pubkeys,
  {
    list(userId: string): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /**
     * Returns `preferred` if this key belongs to the user. Otherwise returns the user's oldest key, or undefined if the
     * user has no key.
     */
    findFirst(userId: string, preferred: string | null): Effect.Effect<string | undefined, Unavailable>
    /** Adds a key whose private key is not stored by the service. If the user already has the key, nothing changes. */
    add(userId: string, pubkey: string): Effect.Effect<string, NotFound | Unprocessable | Unavailable>
    /**
     * Removes the key from another user who has added it, so that this user, who has proved to hold it, can add it. The
     * other user keeps the key if it is custodial, belongs to an organization or owns an id.
     */
    freeFor(userId: string, pubkey: string): Effect.Effect<void, Unavailable>
    /** Generates a custodial key for the user and returns its public key. */
    generate(userId: string): Effect.Effect<string, NotFound | Unprocessable | Unavailable>
    /** Stores a custodial key of an existing user. It checks no limit and invalidates no cache. */
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
        if (!row!.user_exists) return yield* new NotFound({ error: "User not found." })
        if (row!.holder === null) {
          return yield* fieldFault(
            "pubkey",
            "too_many",
            `A user can have at most ${maxPubkeysPerUser} public keys.`,
          )
        }
        return yield* new Unprocessable({
          error: "This public key is already registered.",
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
