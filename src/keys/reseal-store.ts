import { Effect } from "effect"
import { type CustodialKey, CustodialKeys } from "../crypto/custodial-keys.ts"
import { Seal } from "../crypto/envelope-encryption.ts"
import { Sql } from "../postgres/sql.ts"

const keysPerPart = 500

/** How many values were encrypted again, and how many could not be decrypted and stay as they are. */
export interface Resealed {
  readonly resealed: number
  readonly unreadable: number
}

/** Encrypts the custodial keys again whose master key is not the newest one. */
export const resealCustodialKeys = Effect.gen(function* () {
  const sql = yield* Sql
  const seal = yield* Seal
  const custody = yield* CustodialKeys
  let [resealed, unreadable, after] = [0, 0, ""]
  for (;;) {
    const part = yield* sql.rows<CustodialKey>(
      (q) => q`select pubkey, sealed_key as "sealedKey" from pubkey
                where sealed_key is not null and pubkey > ${after} order by pubkey limit ${keysPerPart}`,
    )
    const changed: Array<{ pubkey: string; old: string; new: string }> = []
    for (const key of part.filter(({ sealedKey }) => seal.isStale(sealedKey))) {
      const made = yield* Effect.option(custody.reseal(key))
      if (made._tag === "None") unreadable++
      else changed.push({ pubkey: key.pubkey, old: key.sealedKey, new: made.value })
    }
    if (changed.length > 0)
      yield* sql.rows(
        (q) => q`update pubkey k set sealed_key = x.new
                   from jsonb_to_recordset(${JSON.stringify(changed)}::text::jsonb) as x(pubkey text, old text, new text)
                  where k.pubkey = x.pubkey and k.sealed_key = x.old`,
      )
    resealed += changed.length
    const last = part.at(-1)
    if (last === undefined) return { resealed, unreadable } satisfies Resealed
    after = last.pubkey
  }
})
