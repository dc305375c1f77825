import { emojis } from "../../schema/directory/emoji.ts"
import { formatTag, tags } from "../../schema/directory/records/record-tag.ts"
import { nativeTickers } from "../../schema/directory/ticker.ts"
import { categoryName } from "../web/record-view.ts"
import { emojiGroups } from "./emoji-groups.ts"

const nameOf = new Map(emojis.map(({ canonical, name }) => [canonical, name]))

const allTags = [...new Set([...Object.values(tags), ...nativeTickers.values()])].map(formatTag)

/** Display names for emoji and record tags, used by the console's scripts. */
export const vocabulary = {
  emoji: emojiGroups.map(([group, members]) => ({
    group,
    members: members.split(" ").map((emoji) => [emoji, nameOf.get(emoji) ?? ""] as const),
  })),
  /** The names of the record categories, by tag. */
  categories: Object.fromEntries(allTags.map((tag) => [tag, categoryName(tag)])),
}
