import type { Sql } from "postgres"
import { emojis } from "../../schema/directory/emoji.ts"
import { normalizeRecord } from "../../schema/directory/records/record.ts"
import { parseTag } from "../../schema/directory/records/record-tag.ts"
import { webPage } from "../stored/ids.ts"
import { userIdAt } from "../stored/people.ts"

const alphabet = [...new Set(emojis.map(({ canonical }) => canonical))]
const size = alphabet.length
/** A block has the ids that begin with the same two emoji, so the rows of one statement are close in every index. */
const idsPerBlock = size ** 2

/**
 * Stores ids of four emoji as registrations leave them: each has a claim, a row in `emoji_id`, a record and a channel.
 * The ids are stored in blocks, in the order of the indexes. With one statement for all, the sort would need as much
 * disk space as the table.
 */
export async function storeRegistered(
  sql: Sql,
  ids: number,
  owners: number,
  onStep: (step: string) => void,
): Promise<void> {
  const record = normalizeRecord(webPage)
  if (!("hash" in record)) throw new Error(record.message)
  await sql.unsafe(
    `create temp table digit as
     select e, (row_number() over (order by e) - 1)::int as i from unnest(string_to_array($1, ' ')) e`,
    [alphabet.join(" ")],
  )
  const blocks = Math.ceil(ids / idsPerBlock)
  for (let block = 0; block < blocks; block++) {
    if (block % 10 === 0) onStep(`${block * idsPerBlock} of ${ids} ids stored`)
    await sql.unsafe(`
      create temp table stored as
      select h.prefix || c.e || d.e as canonical,
             ('${userIdAt(0).slice(0, 24)}' || lpad(to_hex((c.i * ${size} + d.i) % ${owners}), 12, '0'))::uuid as owner_id
        from (select a.e || b.e as prefix from digit a, digit b
               where a.i = ${Math.floor(block / size)} and b.i = ${block % size}) h, digit c, digit d
       order by 1 limit ${Math.min(idsPerBlock, ids - block * idsPerBlock)}`)
    await sql`insert into claim (canonical, kind, holder, owner_id)
              select canonical, 'owned', owner_id, owner_id from stored`
    await sql`insert into emoji_id (canonical, owner_id, source) select canonical, owner_id, 'bench' from stored`
    await sql`insert into record (canonical, hash, tag, data)
              select canonical, ${record.hash}, ${parseTag(record.tag) ?? 0}::int, ${record.data} from stored`
    await sql`insert into channel (name, "offset") select 'emoji_id:' || canonical, 1 from stored`
    await sql.unsafe("drop table stored")
  }
}
