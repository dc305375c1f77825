import { Effect } from "effect"
import { Seal } from "../crypto/envelope-encryption.ts"
import { Sql } from "../postgres/sql.ts"

/** A signing key as it is stored. The times are Unix times in seconds. */
export interface StoredKey {
  readonly number: number
  readonly kid: string
  readonly publicKey: string
  readonly sealedKey: string
  readonly notBefore: number
  readonly notAfter: number | null
}
export type NewKey = Pick<StoredKey, "kid" | "publicKey" | "sealedKey">

/** Processes learn of a new key after a few seconds. Until then, they sign with the former key. */
const noticeSeconds = 60

/** The AAD binds the encrypted key to its id: an encrypted key that is copied to the row of another key cannot be decrypted. */
export const aadFor = (kid: string): string => `signing-key/${kid}`

/** Reads and writes the keys that sign proofs. */
export const makeSigningKeyStore = Effect.map(Sql, (sql) => ({
  /** Returns all keys, the newest first. */
  list: sql.rows<StoredKey>(
    (q) => q`select number, kid, public_key as "publicKey", sealed_key as "sealedKey",
                    floor(extract(epoch from not_before))::bigint as "notBefore",
                    floor(extract(epoch from not_after))::bigint as "notAfter"
               from signing_key order by number desc`,
  ),

  /** Stores the first key. Does nothing if there is a key already, for example of another process that starts now. */
  addFirst: ({ kid, publicKey, sealedKey }: NewKey) =>
    sql.rows(
      (q) => q`insert into signing_key (number, kid, public_key, sealed_key, not_before)
               values (1, ${kid}, ${publicKey}, ${sealedKey}, now()) on conflict do nothing`,
    ),

  /**
   * Stores a key that signs from `delaySeconds` on. The keys before it sign until then, and are published until their
   * last proofs have expired.
   */
  rotate: ({ kid, publicKey, sealedKey }: NewKey, delaySeconds: number, lifetimeSeconds: number) =>
    sql.rows(
      (q) => q`with added as (
                 insert into signing_key (number, kid, public_key, sealed_key, not_before)
                 select coalesce(max(number), 0) + 1, ${kid}, ${publicKey}, ${sealedKey}, now() + make_interval(secs => ${delaySeconds}::int)
                   from signing_key
                 returning not_before + make_interval(secs => ${lifetimeSeconds + noticeSeconds}::int) as ends)
               update signing_key k set not_after = a.ends from added a where k.not_after is null or k.not_after > a.ends`,
    ),

  /** Ends a key now, if another key can sign. Returns whether it did. */
  retire: (kid: string) =>
    Effect.map(
      sql.rows(
        (q) => q`update signing_key k set not_after = now()
                  where k.kid = ${kid} and (k.not_after is null or k.not_after > now())
                    and exists (select 1 from signing_key o
                                 where o.kid <> k.kid and o.not_before <= now() and o.not_after is null)
                 returning k.kid`,
      ),
      (rows) => rows.length > 0,
    ),
}))

/** Encrypts the signing keys again whose master key is not the newest one. */
export const resealSigningKeys = Effect.gen(function* () {
  const sql = yield* Sql
  const seal = yield* Seal
  let [resealed, unreadable] = [0, 0]
  for (const { kid, sealedKey } of yield* (yield* makeSigningKeyStore).list) {
    if (!seal.isStale(sealedKey)) continue
    const made = yield* Effect.option(seal.reseal(sealedKey, aadFor(kid)))
    if (made._tag === "None") {
      unreadable++
      continue
    }
    yield* sql.rows(
      (q) =>
        q`update signing_key set sealed_key = ${made.value} where kid = ${kid} and sealed_key = ${sealedKey}`,
    )
    resealed++
  }
  return { resealed, unreadable }
})
