import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import { fieldFault, NotFound, type Unavailable, Unprocessable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { accountTopic } from "../cluster/topic-names.ts"
import { CustodialKeys } from "../crypto/custodial-keys.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { Sql } from "../postgres/sql.ts"

const maxPubkeysPerUser = 200

interface AddedRow {
  readonly user_exists: boolean
  readonly holder: string | null
  readonly is_added: boolean | null
}

/** An added key. `keep` is the public key. */
export type AddedPubkey = WriteOutcome<AddedRow, string>

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
    /** Adds a key whose private key is not stored by the service. Fails if a user already has the key. */
    add(
      userId: string,
      pubkey: string,
    ): Effect.Effect<Written<AddedPubkey>, NotFound | Unprocessable | Unavailable>
    /**
     * Removes the key from another user who has added it, so that this user, who has proved to hold it, can add it. The
     * other user keeps the key if it is custodial, belongs to an organization or owns an id.
     */
    freeFor(userId: string, pubkey: string): Effect.Effect<void, Unavailable>
    /** Generates a custodial key for the user. */
    generate(userId: string): Effect.Effect<Written<AddedPubkey>, NotFound | Unprocessable | Unavailable>
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

      const put = Effect.fnUntraced(function* (userId: string, pubkey: string, sealedKey: string | null) {
        // Identifies the statement, so that it succeeds again if it is sent again after a broken connection.
        const request = randomUUID()
        const added = yield* sql.write
          .rows<AddedRow, string>(
            (q) =>
              q`select * from add_pubkey(${userId}, ${pubkey}, ${sealedKey}, ${request}, ${maxPubkeysPerUser})`,
            { keep: pubkey, when: (q) => q`effect.is_added` },
          )
          .pipe(bus.invalidating({ [accountTopic]: [userId] }))
        const [row] = added.outcome.rows
        if (row!.is_added) return added
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
          .pipe(bus.invalidating({ [accountTopic]: userIds }))
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
          const holders = yield* sql.rows<{ user_id: string }>(
            (q) => q`select user_id from pubkey where pubkey = ${pubkey} and user_id is not null`,
          )
          const known = holders.map((row) => row.user_id)
          const rows = yield* sql
            .rows<{ user_id: string }>(
              (q) => q`select user_id from free_pubkey(${userId}, ${pubkey}) as user_id`,
            )
            .pipe(bus.invalidating({ [accountTopic]: known }))
          // A user who added the key after it was read.
          const others = rows.flatMap((row) => (known.includes(row.user_id) ? [] : row.user_id))
          yield* bus.invalidate(accountTopic, others)
        }),
        generate,
        giveFirst,
      })
    }),
  )
}
