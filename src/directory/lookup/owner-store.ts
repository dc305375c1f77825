import { Effect } from "effect"
import { lateralKeys } from "../../postgres/lateral-keys.ts"
import { Sql } from "../../postgres/sql.ts"

/** What a proof says about the owner of an id, and the version for which it holds. */
export interface OwnerFacts {
  readonly canonical: string
  readonly version: number
  readonly tokenId: number
  readonly pubkey: string | null
  /** The signature of the Merkle root that was sent with the last change of the records. */
  readonly signature: string | null
}

/** Makes a function that reads the owners of the given ids in one statement. */
export const makeReadOwners = Effect.map(
  Sql,
  (sql) => (canonicals: ReadonlyArray<string>) =>
    sql
      .urgent<OwnerFacts>(
        (q) => q`select e.canonical, e.version, e.token_id as "tokenId", e.pubkey, e.signature
                   from ${lateralKeys(q, canonicals)}
                  cross join lateral (select * from emoji_id i where i.canonical = x.canonical offset 0) e`,
      )
      .pipe(Effect.map((rows) => new Map(rows.map((row) => [row.canonical, row])))),
)
