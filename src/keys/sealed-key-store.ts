import type { CustodialKey } from "../crypto/custodial-keys.ts"
import { Sql } from "../postgres/sql.ts"

interface KeptKey extends CustodialKey {
  /** The name of the master secret that encrypted this key. */
  readonly sealedBy: string
}

/**
 * Reads encrypted keys of every master secret: at most `perSecret` keys for each. The recursive query finds one secret
 * name after the other, so that it need not read all keys.
 */
export const listSealedKeys = (perSecret: number) =>
  Sql.use((sql) =>
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
                    where sealed_key is not null and split_part(sealed_key, '.', 2) = s.name limit ${perSecret}) k
                where s.name <> ''`,
    ),
  )
