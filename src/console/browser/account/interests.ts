import type { UserInterest } from "../../../client/api-types.ts"
import { actionButton } from "../parts/actions.ts"
import { emojiText, empty, h } from "../parts/dom.ts"
import { when } from "../parts/format.ts"
import { drawPaged, type Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"

const interest = ({ created_at, emoji_id }: UserInterest, again: () => Promise<void>) =>
  h(
    "li",
    { class: "card row spread" },
    h("a", { class: "tile-id", href: `#/market/${encodeURIComponent(emoji_id)}` }, emojiText(emoji_id)),
    h("span", { class: "soft small" }, `added ${when(created_at)}`),
    actionButton(
      "Remove",
      async () => {
        await call("DELETE /user_interests/{emoji_id}", { params: { emoji_id } })
        await again()
      },
      { sign: "trash-2", class: "plain" },
    ),
  )

/** The ids that the user waits for. */
export const drawInterests: Section["draw"] = (place) =>
  drawPaged(
    place,
    (cursor) => call("GET /user_interests", { query: { limit: 20, ...cursor } }),
    (found, again) =>
      found.length === 0
        ? empty(
            "🔔",
            "Your watchlist is empty. Search the market for a taken id and choose “Notify me when available”.",
          )
        : h(
            "ul",
            { class: "plain-list" },
            found.map((one) => interest(one, again)),
          ),
  )
