import { emojis } from "../../schema/directory/emoji.ts"
import { formatTag, tags } from "../../schema/directory/record-tag.ts"
import { nativeTickers } from "../../schema/directory/ticker.ts"
import { categoryChoices, categoryName } from "../web/record-view.ts"
import { emojiGroups } from "./emoji-groups.ts"

const usualCoins = ["BTC", "ETH", "SOL", "XMR", "LTC", "DOGE"]

const nameOf = new Map(emojis.map(({ canonical, name }) => [canonical, name]))

const allTags = [...new Set([...Object.values(tags), ...nativeTickers.values()])].map(formatTag)

/** The words the console's script shows for what the API names by sign or number. */
export const vocabulary = {
  emoji: emojiGroups.map(([group, members]) => ({
    group,
    members: members.split(" ").map((emoji) => [emoji, nameOf.get(emoji) ?? ""] as const),
  })),
  /** Names of records by tag. */
  categories: Object.fromEntries(allTags.map((tag) => [tag, categoryName(tag)])),
  /** Tags a person may add by hand, the usual ones first. */
  choices: [...new Set([...categoryChoices(usualCoins), ...categoryChoices([])].map(([tag]) => tag))],
}
