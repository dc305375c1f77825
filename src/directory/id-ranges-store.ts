import type { Range } from "../postgres/page-statement.ts"
import type { Client, SqlPiece } from "../postgres/sql.ts"

/**
 * Selects the ids of a user or of an organization. A user has the ids that they own and those of their keys. With
 * `canonical` it selects one id of the user.
 */
export type IdFilter =
  | { readonly ownedBy: string; readonly canonical?: string }
  | { readonly organizationId: string }

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

/** Returns the ranges of a list of ids. An index has the ids of an owner, or of a key and its owner, by their token id. */
export const idRanges = (q: Client, filter: IdFilter): ReadonlyArray<Range> => {
  if ("organizationId" in filter) {
    const ofOrganization = q`k.organization_id = ${filter.organizationId}`
    // The cost grows with the number of keys, but not with the number of ids.
    const ofHolders: Range = ({ direction, isBehind, limit }) => q`(
      select e.token_id from pubkey k cross join lateral (
        select token_id from emoji_id where pubkey = k.pubkey and owner_id = k.user_id and ${isBehind}
         order by token_id ${direction} limit ${limit}) e
       where ${ofOrganization} offset 0) of_holders where true`
    return [ofHolders, ofOthers(q, ofOrganization)]
  }
  const { canonical, ownedBy } = filter
  const ofUser = q`k.user_id = ${ownedBy}`
  if (canonical === undefined) return [q`emoji_id where owner_id = ${ownedBy}`, ofOthers(q, ofUser)]
  return [
    q`emoji_id where canonical = ${canonical} and owner_id = ${ownedBy}`,
    ofOthers(q, ofUser, q`e.canonical = ${canonical}`),
  ]
}
