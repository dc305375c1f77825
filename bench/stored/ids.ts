import type { Sql } from "postgres"
import { emojis } from "../../schema/directory/emoji.ts"
import { normalizeRecord } from "../../schema/directory/records/record.ts"
import { parseTag } from "../../schema/directory/records/record-tag.ts"
import { userIdAt } from "./people.ts"

const alphabet = [...new Set(emojis.map(({ canonical }) => canonical))]
const size = alphabet.length
const storedLength = 4
const places = Array.from({ length: storedLength }, (_, place) => place)

/**
 * Returns id n: the number n with emoji as digits, lowest digit first. Ids of different lengths are always different.
 */
export function canonicalAt(n: number, length = storedLength): string {
  let id = ""
  for (let rest = n, place = 0; place < length; place++) {
    id += alphabet[rest % size]
    rest = Math.floor(rest / size)
  }
  return id
}

export interface StoredIds {
  readonly ids: number
  /**
   * The number of the first owner. The owners get the ids in rotation: id n belongs to user `firstOwner + n %
   * owners`.
   */
  readonly firstOwner?: number
  readonly owners?: number
  readonly records?: readonly { readonly tag: string; readonly data: string }[]
  /** How the ids were acquired; see the table `emoji_id`. */
  readonly source?: string
  /** Whether each id has the pubkey that `storeEveryTable` gives to its owner. */
  readonly hasPubkeys?: boolean
}

export const webPage = { tag: "0x4001", data: "https://example.com/octopus" }
export const bitcoin = { tag: "0x1003", data: "1BoatSLRHtKNngkdXEeobR76b53LETtpyT" }
export const note = { tag: "0x5001", data: "Send to the address below and mention the invoice." }

/**
 * Stores ids 0 to `ids` - 1 as if they had been purchased: each gets a claim, a row in `emoji_id`, and the given
 * records.
 */
export async function storeIds(sql: Sql, stored: StoredIds): Promise<void> {
  const {
    ids,
    firstOwner = 0,
    owners = 1,
    records = [webPage],
    source = "bench",
    hasPubkeys = false,
  } = stored
  const rows = records.map((record) => {
    const normal = normalizeRecord(record)
    if (!("hash" in normal)) throw new Error(normal.message)
    return { ...normal, tag: parseTag(normal.tag) ?? 0 }
  })
  await sql.unsafe("drop table if exists pg_temp.digit, pg_temp.stored")
  await sql.unsafe(
    `create temp table digit as
     select e, (n - 1)::int as i from unnest(string_to_array($1, ' ')) with ordinality as x(e, n)`,
    [alphabet.join(" ")],
  )
  // The rows are sorted like the indexes, because a million inserts in random order would take twice as long.
  await sql.unsafe(`
    create temp table stored as
    select canonical, ('${userIdAt(0).slice(0, 24)}' || lpad(to_hex(${firstOwner} + n % ${owners}), 12, '0'))::uuid as owner_id
      from (select ${places.map((place) => `l${place}.e`).join(" || ")} as canonical,
                   ${places.map((place) => `l${place}.i * ${size ** place}::bigint`).join(" + ")} as n
              from ${places.map((place) => `digit l${place}`).join(", ")}
             where ${places.map((place) => `l${place}.i <= ${Math.floor((ids - 1) / size ** place)}`).join(" and ")}) x
     where n < ${ids} order by canonical`)
  const [found] = await sql<[{ some: boolean }]>`select exists (select 1 from claim) as some`
  // If the table `claim` is empty, no id is stored and there can be no conflict. The conflict check is then omitted,
  // because it costs a third of an insert.
  const unlessThere = found.some ? sql`on conflict do nothing` : sql``
  await sql`insert into claim (canonical, kind, holder, owner_id)
            select canonical, 'owned', owner_id, owner_id from stored ${unlessThere}`
  await sql`insert into emoji_id (canonical, owner_id, source, pubkey)
            select canonical, owner_id, ${source}, case when ${hasPubkeys} then md5(owner_id::text) || md5('end' || owner_id) end
              from stored ${unlessThere}`
  for (const { tag, data, hash } of rows) {
    await sql`insert into record (canonical, hash, tag, data)
              select canonical, ${hash}, ${tag}::int, ${data} from stored ${unlessThere}`
  }
  // Without this vacuum, autovacuum would process the new rows at some time during the measurement, and the server would
  // have to share its core with it.
  await sql`vacuum (analyze) claim, emoji_id, record`
}
