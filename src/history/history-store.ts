import { Effect } from "effect"
import type { HistoryEntry } from "../../schema/directory/history.ts"
import { historyList } from "../../schema/directory/history.ts"
import type { PageRequest } from "../../schema/paging.ts"
import type { Client } from "../postgres/client.ts"
import { makePages } from "../postgres/pages.ts"
import { Sql } from "../postgres/sql.ts"

interface StoredRecord {
  readonly tag: number
  readonly hash: string
  readonly data: string | null
}

/** What a change has changed, as it is stored. */
interface StoredDetails {
  readonly added: ReadonlyArray<StoredRecord> | null
  readonly removed: ReadonlyArray<StoredRecord> | null
  readonly pubkey_before: string | null
  readonly pubkey_after: string | null
  readonly store_key: string | null
  readonly signed: boolean | null
}

/** A change of an id, without what its reader may not see. */
export interface StoredChange extends Pick<HistoryEntry, "at" | "kind" | "version"> {
  /**
   * `kept`: the owner was the present one before and after the change. `got` and `gave`: the present owner got the id with the
   * change, or gave it away. Null if the reader may not see the details.
   */
  readonly part: "kept" | "got" | "gave" | null
  readonly details: StoredDetails | null
}

/** The users and organizations as whom the caller may see the details. */
export interface Reader {
  readonly userId: string
  readonly organizations: ReadonlyArray<string>
  readonly isAdmin: boolean
}

interface Facts {
  readonly version: number
  readonly completeSince: string
  readonly isOwner: boolean
}

/**
 * What is known of changes before the start of the history. The times are columns of the id, so there is at most one
 * change of each kind.
 */
const formerChanges = (q: Client, canonical: string) => q`(
  select x.place, x.kind, x.at from emoji_id e cross join history_start s
   cross join lateral (values (-3::bigint, 'registered', e.registered_at),
                              (case when e.owner_changed_at <= e.minted_at then -2 else -1 end, 'owner', e.owner_changed_at),
                              (case when e.owner_changed_at <= e.minted_at then -1 else -2 end, 'minted', e.minted_at))
           as x(place, kind, at)
   where e.canonical = ${canonical} and x.at < s.at
     and not (x.kind = 'owner' and e.owner_changed_at = e.registered_at) offset 0)`

export const makeHistoryStore = Effect.gen(function* () {
  const sql = yield* Sql
  const pages = yield* makePages
  return {
    /** Returns facts about a registered id, and whether the caller owns it now. */
    find: (canonical: string, reader: Reader | undefined) =>
      sql
        .rows<Facts>(
          (q) => q`select e.version, greatest(e.registered_at, s.at) as "completeSince",
                          ${reader?.isAdmin ?? false} or ${
                            reader === undefined
                              ? q`false`
                              : q`may_write(e, ${reader.userId}::uuid, ${reader.organizations as string[]}::uuid[])`
                          } as "isOwner"
                     from emoji_id e cross join history_start s where e.canonical = ${canonical}`,
        )
        .pipe(Effect.map(([row]) => row)),
    /**
     * Reads a page of the changes. Details are read only for the owner, and only those of the time in which the present owner
     * owned the id.
     */
    page: (canonical: string, request: PageRequest, isOwner: boolean) =>
      pages.read<StoredChange>(request, historyList.sorts.only, (q) => {
        const part = q`case when not ${isOwner}::boolean then null
                            when c.former_owner_id = e.owner_id and c.owner_id is distinct from e.owner_id then 'gave'
                            when c.owner_id = e.owner_id and c.kind = 'owner' then 'got'
                            when c.owner_id = e.owner_id then 'kept' end`
        return {
          ranges: [
            q`(select version as place from emoji_id_change where canonical = ${canonical}) of_id where true`,
            q`${formerChanges(q, canonical)} former where true`,
          ],
          keys: [q`place`],
          item: q`select * from (
                    select c.version, c.kind, c.at, ${part} as part, case when ${part} is not null then
                             jsonb_build_object('added', c.added, 'removed', c.removed, 'pubkey_before', c.pubkey_before,
                               'pubkey_after', c.pubkey_after, 'store_key', c.store_key, 'signed', c.signed) end as details
                      from emoji_id_change c join emoji_id e on e.canonical = c.canonical
                     where c.canonical = ${canonical} and c.version = p.k0
                    union all
                    select null, f.kind, f.at, null, null from ${formerChanges(q, canonical)} f where f.place = p.k0) one`,
        }
      }),
  }
})
