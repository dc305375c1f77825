import { join } from "node:path"
import { Effect, Layer } from "effect"
import { AppConfig } from "../config/config.ts"
import { Sql } from "../postgres/sql.ts"
import { type CustodialKey, CustodialKeys } from "./custodial-keys.ts"

/** Of each secret. Some may have been spoiled; all of these were not. */
const looksAt = 16
const nothing = new Uint8Array()

interface KeptKey extends CustodialKey {
  /** The name of the master secret. */
  readonly sealedBy: string
}

/** Some of what each master secret has sealed, from one name to the next. */
const findKept = Sql.use((sql) =>
  sql.rows<KeptKey>(
    (q) => q`with recursive secret as (
               select min(split_part(sealed_key, '.', 2)) as name from pubkey where sealed_key is not null
               union all
               select (select min(split_part(k.sealed_key, '.', 2)) from pubkey k
                        where k.sealed_key is not null and split_part(k.sealed_key, '.', 2) > s.name)
                 from secret s where s.name is not null
             )
             select s.name as "sealedBy", k.pubkey, k.sealed_key as "sealedKey"
               from secret s cross join lateral (
                 select pubkey, sealed_key from pubkey
                  where sealed_key is not null and split_part(sealed_key, '.', 2) = s.name limit ${looksAt}) k
              where s.name <> ''`,
  ),
)

/** Fails where a master secret is missing that the database keeps something sealed by. */
export const checkSecret = Effect.gen(function* () {
  const custody = yield* CustodialKeys
  const config = yield* AppConfig
  const opens = new Map<string, boolean>()
  for (const { sealedBy, ...key } of yield* findKept) {
    if (opens.get(sealedBy)) continue
    opens.set(sealedBy, yield* Effect.isSuccess(custody.sign(key, nothing)))
  }
  if ([...opens.values()].every(Boolean)) return
  const source = config.secretKeys === undefined ? join(config.dataDir, "secret-key") : "SECRET_KEYS"
  yield* Effect.fail(
    new Error(
      `${source}: what this database keeps sealed does not open with it; start with the secret of before`,
    ),
  )
})

/**
 * Stops the start then. A release in a folder of its own makes itself another secret: no second factor or wallet would open,
 * and what it seals would be lost with the folder.
 */
export const keyCheck = Layer.effectDiscard(checkSecret).pipe(Layer.provide(CustodialKeys.layer))
