import type { Client, SqlPiece } from "../postgres/client.ts"
import type { Range } from "../postgres/page-statement.ts"

/**
 * The ids of keys that belong to another user than the key. There are few, so they are sorted. Two comparisons and not
 * `<>`, because the index has the ids of a key by their owner.
 */
const ofOthers = (q: Client, keys: SqlPiece, condition: SqlPiece = q`true`): SqlPiece => q`(
  select e.token_id from pubkey k cross join lateral (
    select token_id, canonical from emoji_id where pubkey = k.pubkey and owner_id < k.user_id
    union all
    select token_id, canonical from emoji_id where pubkey = k.pubkey and owner_id > k.user_id) e
   where ${keys} and ${condition} offset 0) of_others where true`

interface IdSelection {
  readonly ranges: ReadonlyArray<Range>
  readonly keys: ReadonlyArray<SqlPiece>
}

/**
 * The ids of a user by their token ids. An index has the ids of an owner in this order.
 */
export const idsOfUser = (q: Client, userId: string, canonical: string | undefined): IdSelection => {
  const ofUser = q`k.user_id = ${userId}`
  return {
    keys: [q`token_id`],
    ranges:
      canonical === undefined
        ? [q`emoji_id where owner_id = ${userId}`, ofOthers(q, ofUser)]
        : [
            q`emoji_id where canonical = ${canonical} and owner_id = ${userId}`,
            ofOthers(q, ofUser, q`e.canonical = ${canonical}`),
          ],
  }
}

/**
 * The ids of an organization by their key. So only the keys of the page are read: an organization can have any number of
 * keys.
 */
export const idsOfOrganization = (q: Client, organizationId: string): IdSelection => ({
  keys: [q`pubkey`, q`owner_id`, q`token_id`],
  ranges: [
    ({ compareFirst, direction, isBehind, limit }) => q`(
      select e.* from (select pubkey as assigned from pubkey
                        where organization_id = ${organizationId} and has_had_ids and ${compareFirst(q`pubkey`)}
                        order by pubkey ${direction} offset 0) k
       cross join lateral (select pubkey, owner_id, token_id from emoji_id
                            where pubkey = k.assigned and ${isBehind}
                            order by owner_id ${direction}, token_id ${direction} limit ${limit}) e) of_keys where true`,
  ],
})
