import type { Sql } from "postgres"
import { emojis } from "../../schema/emoji.ts"
import { normalizeRecord } from "../../schema/record.ts"
import { parseTag } from "../../schema/record-tag.ts"
import { userIdAt } from "./people.ts"

const alphabet = [...new Set(emojis.map(({ canonical }) => canonical))]
const storedLength = 4

/** Number n written in emoji instead of digits: ids of one length never meet those of another. */
export function canonicalAt(n: number, length = storedLength): string {
  let id = ""
  for (let rest = n, place = 0; place < length; place++) {
    id += alphabet[rest % alphabet.length]
    rest = Math.floor(rest / alphabet.length)
  }
  return id
}

export interface StoredIds {
  readonly ids: number
  /** Ids are given in turn to the people from this one on. */
  readonly firstOwner?: number
  readonly owners?: number
  readonly records?: readonly { readonly tag: string; readonly data: string }[]
}

export const webPage = { tag: "0x4001", data: "https://example.com/octopus" }
export const note = { tag: "0x5001", data: "Send to the address below and mention the invoice." }

/** Registers ids 0 to n - 1 as a purchase would leave them: claim, id, records. */
export async function storeIds(sql: Sql, stored: StoredIds): Promise<void> {
  const { ids, firstOwner = 0, owners = 1, records = [webPage] } = stored
  const rows = records.map((record) => {
    const normal = normalizeRecord(record)
    if (!("hash" in normal)) throw new Error(normal.message)
    return { ...normal, tag: parseTag(normal.tag) }
  })
  const spelling = Array.from(
    { length: storedLength },
    (_, place) => `a.e[1 + n / ${alphabet.length ** place}::bigint % ${alphabet.length}]`,
  ).join(" || ")
  const owner = userIdAt(0).slice(0, 24)
  const source = `
    from (select string_to_array($1, ' ') as e) a, generate_series(0, ${ids} - 1) n,
         lateral (select ${spelling} as canonical,
                         ('${owner}' || lpad(to_hex(${firstOwner} + n % ${owners}), 12, '0'))::uuid as owner_id) x`
  const letters = [alphabet.join(" ")]
  await sql.unsafe(
    `insert into claim (canonical, kind, holder, owner_id)
     select x.canonical, 'owned', x.owner_id, x.owner_id ${source} on conflict do nothing`,
    letters,
  )
  await sql.unsafe(
    `insert into emoji_id (canonical, owner_id, source)
     select x.canonical, x.owner_id, 'bench' ${source} on conflict do nothing`,
    letters,
  )
  for (const { tag, data, hash } of rows) {
    await sql.unsafe(
      `insert into record (canonical, hash, tag, data)
       select x.canonical, $2, $3::int, $4 ${source} on conflict do nothing`,
      [...letters, hash, String(tag), data],
    )
  }
  await sql`analyze claim, emoji_id, record`
}
