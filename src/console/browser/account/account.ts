import type { UserInterest } from "../../../client/api-types.ts"
import type { View } from "../main.ts"
import { actionButton } from "../parts/actions.ts"
import { emojiText, empty, h } from "../parts/dom.ts"
import { when } from "../parts/format.ts"
import { drawPaged, drawPages, type Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { drawKeys } from "./keys.ts"
import { drawProfile } from "./profile.ts"
import { drawSecurity } from "./security.ts"
import { drawSecurityLog } from "./security-log.ts"
import { drawSessions } from "./sessions.ts"

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
      { class: "plain" },
    ),
  )

const drawInterests = (place: Element) =>
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

const pages: Readonly<Record<string, Section>> = {
  profile: { label: "Profile", draw: drawProfile },
  security: { label: "Two-factor", draw: drawSecurity },
  sessions: { label: "Sessions", draw: drawSessions },
  keys: { label: "API keys", draw: drawKeys },
  log: { label: "Security log", draw: drawSecurityLog },
  interests: { label: "Watchlist", draw: drawInterests },
}

export const draw: View["draw"] = (root, lifetime, rest) => {
  root.append(h("h1", {}, "Account"))
  return drawPages(root, "account", pages, lifetime, rest)
}
