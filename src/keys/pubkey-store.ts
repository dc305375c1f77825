import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { fieldFault, NotFound, type Unavailable, Unprocessable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { invalidating } from "../cluster/invalidate-after-unknown-outcome.ts"
import { accountTopic } from "../cluster/topic-names.ts"
import { CustodialKeys } from "../crypto/custodial-keys.ts"
import { Sql } from "../postgres/sql.ts"

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
    /**
     * Adds a key whose private key is not stored by the service. `request` identifies the request: a repeated request
     * succeeds again, but another request for a key that a user already has fails.
     */
    add(
      userId: string,
      pubkey: string,
      request: string,
    ): Effect.Effect<string, NotFound | Unprocessable | Unavailable>
    /**
     * Removes the key from another user who has added it, so that this user, who has proved to hold it, can add it. The
     * other user keeps the key if it is custodial, belongs to an organization or owns an id.
     */
    freeFor(userId: string, pubkey: string): Effect.Effect<void, Unavailable>
    /** Generates a custodial key for the user and returns its public key. */
    generate(userId: string): Effect.Effect<string, NotFound | Unprocessable | Unavailable>
    /**
     * Adds a custodial key to each of these users who has no key. Users get a key when their account is created, but
     * accounts of release 0.2 may have none.
     */
    giveFirst(userIds: ReadonlyArray<string>): Effect.Effect<void, Unavailable>
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

      const put = Effect.fnUntraced(function* (
        userId: string,
        pubkey: string,
        sealedKey: string | null,
        request: string,
      ) {
        const [row] = yield* sql
          .rows<{ user_exists: boolean; holder: string | null; is_added: boolean | null }>(
            (q) =>
              q`select * from add_pubkey(${userId}, ${pubkey}, ${sealedKey}, ${request}, ${maxPubkeysPerUser})`,
          )
          .pipe(invalidating(bus.invalidate(accountTopic, [userId]), sql.statementTimeoutMs))
        if (row!.is_added) return pubkey
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
        return yield* put(userId, key.pubkey, key.sealedKey, randomUUID())
      })

      const giveFirst = Effect.fnUntraced(function* (userIds: ReadonlyArray<string>) {
        const keys = yield* Effect.forEach(userIds, (user_id) =>
          // Generating a key takes milliseconds, so other requests get a turn after each key.
          Effect.map(Effect.tap(custodial.make, Effect.yieldNow), ({ pubkey, sealedKey }) => ({
            user_id,
            pubkey,
            sealed_key: sealedKey,
          })),
        )
        yield* sql
          .rows((q) => q`select give_first_keys(${JSON.stringify(keys)}::text::jsonb)`)
          .pipe(invalidating(bus.invalidate(accountTopic, userIds), sql.statementTimeoutMs))
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
        add: (userId, pubkey, request) => put(userId.toLowerCase(), pubkey, null, request),
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
        giveFirst,
      })
    }),
  )
}
