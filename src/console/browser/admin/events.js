import { actionButton } from "../parts/actions.js"
import { choice, fill, h } from "../parts/dom.js"
import { clockTime, dollars, when } from "../parts/format.js"
import { coalesced } from "../parts/signal.js"
import { get } from "../platform/api.js"
import { subscribe } from "../platform/live.js"

const kinds = ["cart", "order", "transfer", "lootbox", "session", "interest", "emoji_id", "market"]
const signs = {
  cart: "🛒",
  order: "🧾",
  transfer: "📮",
  lootbox: "🎁",
  session: "🔑",
  interest: "🔔",
  emoji_id: "🏷️",
  market: "📈",
}
const lookEveryMs = 3000
/** Of those that came while the list was shown; then it begins anew. */
const mostNew = 500
const pageSize = 50
/** One look goes through so many events of all kinds; further back only who wants to. */
const looksPerPage = 20

const kindOf = ({ event }) => event.split(".")[0]

/** What the data says, short: members that are plain values. */
const gist = (data) =>
  Object.entries(data ?? {})
    .filter(([, value]) => typeof value === "string" || typeof value === "number")
    .map(([name, value]) =>
      name.endsWith("_in_cents")
        ? `${name.slice(0, -"_in_cents".length).replaceAll("_", " ")} ${dollars(value)}`
        : `${name.replaceAll("_", " ")} ${value}`,
    )
    .join(" · ")

const entry = (event, isNew) =>
  h(
    "li",
    { class: isNew ? "event changed" : "event" },
    h("time", { class: "soft small", datetime: event.at, title: when(event.at) }, clockTime(event.at)),
    h("span", { class: "event-sign", "aria-hidden": "true" }, signs[kindOf(event)] ?? "•"),
    h(
      "div",
      { class: "event-text" },
      h("strong", {}, event.event),
      " ",
      h("span", { class: "soft small" }, event.channel.split(":")[0] === kindOf(event) ? "" : event.channel),
      h("p", { class: "small soft gist" }, gist(event.data)),
    ),
  )

/** Everything that happened, newest on top; what happens now appears by itself. */
export const drawEvents = async (place, life) => {
  const list = h("ol", { class: "timeline", "aria-label": "Events" })
  const older = h("div", { class: "row middle" })
  let kind = ""
  let before
  let after
  let news = 0
  /** Nothing, when another kind was chosen meanwhile. */
  const ask = async (more) => {
    const asked = kind
    const found = await get(`/admin/events?limit=${pageSize}${asked === "" ? "" : `&kind=${asked}`}${more}`)
    return asked === kind ? found : undefined
  }

  /** As many as fill a page, or all there are. */
  const askPage = async (from) => {
    let page = await ask(from === undefined ? "" : `&before=${from}`)
    for (let looks = 1; looks < looksPerPage; looks++) {
      if (page?.before === undefined || page.data.length >= pageSize || life.isOver) break
      const more = await ask(`&before=${page.before}`)
      page = more && { ...page, data: [...page.data, ...more.data], before: more.before }
    }
    return page
  }

  const drawOlder = () =>
    fill(
      older,
      before !== undefined &&
        actionButton(
          "Earlier",
          async () => {
            const from = before
            const found = await askPage(from)
            // The list may have begun anew meanwhile.
            if (found === undefined || before !== from) return
            before = found.before
            list.append(...found.data.map((event) => entry(event, false)))
            drawOlder()
          },
          { class: "plain" },
        ),
    )
  const start = async () => {
    const found = await askPage()
    if (found === undefined) return
    before = found.before
    after = found.after
    news = 0
    fill(
      list,
      found.data.map((event) => entry(event, false)),
    )
    drawOlder()
  }
  const look = coalesced(async () => {
    if (document.hidden || life.isOver) return
    try {
      if (after === undefined) return await start()
      const found = await ask(`&after=${after}`)
      if (found === undefined) return
      after = found.after
      // More than one answer holds: rather begin anew than leave a hole.
      news += found.data.length
      if (found.before !== undefined || news > mostNew) return await start()
      list.prepend(...found.data.map((event) => entry(event, true)))
    } catch {
      // The next look may find the service again.
    }
  })
  fill(
    place,
    choice("Show", "kind", [["", "everything"], ...kinds.map((name) => [name, name.replaceAll("_", " ")])], {
      onchange: ({ target }) => {
        kind = target.value
        after = undefined
        look()
      },
    }),
    list,
    older,
  )
  await start()
  const timer = setInterval(look, lookEveryMs)
  life.keep(() => clearInterval(timer))
  life.keep(subscribe("market", { onEvent: look }))
}
