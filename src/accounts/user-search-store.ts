import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { maxCounted } from "../../schema/paging.ts"
import { isUuid } from "../../schema/wire-format.ts"
import type { Client } from "../postgres/client.ts"

/** A prefix with this character appended sorts after every text that begins with the prefix. */
const last = "\u{10ffff}"

/**
 * Builds the query for the ids of the users that match the search. It is a union, so that each part uses its own
 * index. Each part is limited, because a search that matches more users is refused.
 */
export const matchingUsers = (q: Client, search: string) => {
  const email = search.toLowerCase()
  const emojiId = parseEmojiId(search)
  const parts = [
    q`(select id from app_user where email collate "C" between ${email} and ${email + last}
        order by email collate "C" limit ${maxCounted + 1})`,
    q`(select id from app_user where alternate_id collate "C" between ${search} and ${search + last}
        order by alternate_id collate "C" limit ${maxCounted + 1})`,
  ]
  if (isUuid(search)) parts.push(q`select ${search}::uuid`)
  if (emojiId._tag === "EmojiId")
    parts.push(q`select owner_id from emoji_id where canonical = ${emojiId.canonical}`)
  return parts.reduce((all, part) => q`${all} union all ${part}`)
}
