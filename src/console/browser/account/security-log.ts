import type { SecurityLogEntry } from "../../../client/api-types.ts"
import { badge, empty, h } from "../parts/dom.ts"
import { when } from "../parts/format.ts"
import { type Cursor, drawPaged, type Section, table } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import type { Answer } from "../platform/request.ts"

const actors = {
  self: "You",
  anonymous: "Someone who was not signed in",
  administrator: "An administrator",
  operator: "The operator",
  service: "The service",
}
const failures: ReadonlySet<string> = new Set([
  "login.failed",
  "login.locked",
  "two_factor.failed",
  "two_factor.locked",
])

/** Returns one line with the details of an entry. The ids of sessions do not help a reader. */
const gist = (details: SecurityLogEntry["details"]): string =>
  Object.entries(details)
    .filter(([name, value]) => name !== "session_id" && value !== null)
    .map(
      ([name, value]) =>
        `${name.replaceAll("_", " ")}: ${name.endsWith("_at") ? when(String(value)) : String(value).replaceAll("_", " ")}`,
    )
    .join(" · ")

const event = ({ count, details, event, text }: SecurityLogEntry) =>
  h(
    "div",
    {},
    h("strong", {}, text),
    failures.has(event) && [" ", badge("Failed", "warn")],
    count > 1 && ` ${count} times`,
    h("p", { class: "small soft gist" }, gist(details)),
  )

const times = ({ count, created_at, last_at }: SecurityLogEntry): string =>
  count > 1 ? `${when(created_at)} to ${when(last_at)}` : when(created_at)

const rows = (entries: ReadonlyArray<SecurityLogEntry>, nameOfSelf: string) =>
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

type Log = Answer<"GET /account/security_log">
type PageQuery = Cursor & { readonly limit: number }

/** Draws a security log. */
export const drawLog = (place: Element, read: (query: PageQuery) => Promise<Log>, nameOfSelf: string) =>
  drawPaged(
    place,
    (cursor) => read({ limit: 20, ...cursor }),
    (entries) => (entries.length === 0 ? empty("🔑", "No security events yet.") : rows(entries, nameOfSelf)),
  )

export const drawSecurityLog: Section["draw"] = (place) => {
  const list = h("div", {})
  place.append(
    h(
      "p",
      { class: "soft" },
      "Sign-ins and changes of your account within the last year. If you do not recognise an entry, change your password.",
    ),
    list,
  )
  return drawLog(list, (query) => call("GET /account/security_log", { query }), actors.self)
}
