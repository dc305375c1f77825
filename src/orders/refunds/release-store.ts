import { Effect } from "effect"
import type { KeptReason } from "../../../machines/orders/context.ts"
import { Sql } from "../../postgres/sql.ts"

/**
 * Reads which ids of an order cannot be released, with the reason. An id can be released while the buyer owns it
 * through this order, it is not minted, no mint permission is valid, and no transfer holds it.
 */
export const makeReleaseStore = Sql.useSync((sql) => ({
  findKept: (orderId: string, buyerId: string, canonicals: ReadonlyArray<string>) =>
    sql
      .rows<{ canonical: string; kept: KeptReason | null }>(
        (q) => q`select x.canonical, case
                          when e.owner_id is distinct from ${buyerId}::uuid or e.source <> ${`order:${orderId}`} then 'not_owned'
                          when e.minted_at is not null then 'minted'
                          when e.mint_until > now() then 'mint_permitted'
                          when c.kind = 'transfer' then 'in_transfer' end as kept
                   from unnest(${canonicals as string[]}::text[]) as x(canonical)
                   left join emoji_id e on e.canonical = x.canonical
                   left join claim c on c.canonical = x.canonical`,
      )
      .pipe(Effect.map((rows) => new Map(rows.map(({ canonical, kept }) => [canonical, kept ?? undefined])))),
}))
