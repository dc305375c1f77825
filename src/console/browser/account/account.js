import { actionButton } from "../parts/actions.js"
import { emojiText, empty, h } from "../parts/dom.js"
import { when } from "../parts/format.js"
import { drawPaged, drawPages } from "../parts/subnav.js"
import { call, get } from "../platform/api.js"
import { drawKeys } from "./keys.js"
import { drawIds } from "./owned.js"
import { drawProfile } from "./profile.js"
import { drawSecurity } from "./security.js"
import { drawSecurityLog } from "./security-log.js"
import { drawSessions } from "./sessions.js"

const interest = ({ created_at, emoji_id }, again) =>
  h(
    "li",
    { class: "card row spread" },
    h("a", { class: "tile-id", href: `#/market/${encodeURIComponent(emoji_id)}` }, emojiText(emoji_id)),
    h("span", { class: "soft small" }, `added ${when(created_at)}`),
    actionButton(
      "Remove",
      async () => {
        await call("DELETE", `/user_interests/${encodeURIComponent(emoji_id)}`)
        await again()
      },
      { class: "plain" },
    ),
  )

const drawInterests = (place) =>
  drawPaged(
    place,
    (cursor) => get(`/user_interests?limit=20${cursor}`),
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

const pages = {
  ids: { label: "Ids", draw: drawIds },
  profile: { label: "Profile", draw: drawProfile },
  security: { label: "Two-factor", draw: drawSecurity },
  sessions: { label: "Sessions", draw: drawSessions },
  keys: { label: "API keys", draw: drawKeys },
  log: { label: "Security log", draw: drawSecurityLog },
  interests: { label: "Watchlist", draw: drawInterests },
}

export const draw = (root, lifetime, rest) => {
  root.append(h("h1", {}, "Account"))
  return drawPages(root, "account", pages, lifetime, rest)
}
