import { badge, empty, h } from "../parts/dom.js"
import { when } from "../parts/format.js"
import { drawPaged, table } from "../parts/subnav.js"
import { get } from "../platform/api.js"

const actors = {
  self: "You",
  anonymous: "Someone who was not signed in",
  administrator: "An administrator",
  operator: "The operator",
  service: "The service",
}
const failures = new Set(["login.failed", "login.locked", "two_factor.failed", "two_factor.locked"])

/** Returns one line with the details of an entry. The ids of sessions do not help a reader. */
const gist = (details) =>
  Object.entries(details)
    .filter(([name, value]) => name !== "session_id" && value !== null)
    .map(
      ([name, value]) =>
        `${name.replaceAll("_", " ")}: ${name.endsWith("_at") ? when(value) : String(value).replaceAll("_", " ")}`,
    )
    .join(" · ")

const event = ({ count, details, event, text }) =>
  h(
    "div",
    {},
    h("strong", {}, text),
    failures.has(event) && [" ", badge("Failed", "warn")],
    count > 1 && ` ${count} times`,
    h("p", { class: "small soft gist" }, gist(details)),
  )

const times = ({ count, created_at, last_at }) =>
  count > 1 ? `${when(created_at)} to ${when(last_at)}` : when(created_at)

const rows = (entries, nameOfSelf) =>
  table(
    ["Event", "When", "Who", "From"],
    entries.map((entry) => [
      event(entry),
      times(entry),
      entry.actor === "self" ? nameOfSelf : actors[entry.actor],
      h(
        "div",
        { class: "small" },
        entry.address ?? "—",
        h("p", { class: "soft gist" }, entry.user_agent ?? ""),
      ),
    ]),
  )

/** Draws a security log. @param {Element} place @param {string} path @param {string} nameOfSelf */
export const drawLog = (place, path, nameOfSelf) =>
  drawPaged(
    place,
    (cursor) => get(`${path}?limit=20${cursor}`),
    (entries) => (entries.length === 0 ? empty("🔑", "No security events yet.") : rows(entries, nameOfSelf)),
  )

export const drawSecurityLog = (place) => {
  const list = h("div", {})
  place.append(
    h(
      "p",
      { class: "soft" },
      "Logins and changes of your account within the last year. If you do not recognise an entry, change your password.",
    ),
    list,
  )
  return drawLog(list, "/account/security_log", actors.self)
}
