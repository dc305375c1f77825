import type { RecentEvent, RecentEvents } from "../../../client/api-types.ts"
import { actionButton } from "../parts/actions.ts"
import { choice, fill, h } from "../parts/dom.ts"
import { clockTime, dollars, when } from "../parts/format.ts"
import { coalesced } from "../parts/signal.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { subscribe } from "../platform/live.ts"

const kinds = ["cart", "order", "transfer", "lootbox", "session", "interest", "emoji_id", "market"]
const signs: Readonly<Record<string, string>> = {
  cart: "🛒",
  order: "🧾",
  transfer: "📮",
  lootbox: "🎁",
  session: "🔑",
  interest: "🔔",
  emoji_id: "🏷️",
  market: "📈",
}
const pollIntervalMs = 3000
/**
 * When more new events than this were added to the list, the list is reloaded, so that it does not become too long.
 */
const maxNewEvents = 500
const pageSize = 50

const kindOf = ({ event }: RecentEvent): string => event.split(".")[0] ?? ""

/** Returns one line with the members of the data that are strings or numbers. */
const gist = (data: unknown): string =>
  Object.entries((data ?? {}) as Readonly<Record<string, unknown>>)
    .filter(([, value]) => typeof value === "string" || typeof value === "number")
    .map(([name, value]) =>
      name.endsWith("_in_cents")
        ? `${name.slice(0, -"_in_cents".length).replaceAll("_", " ")} ${dollars(Number(value))}`
        : `${name.replaceAll("_", " ")} ${value}`,
    )
    .join(" · ")

const entry = (event: RecentEvent, isNew: boolean) =>
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

/** Draws all events, newest first. New events are added automatically. */
export const drawEvents: Section["draw"] = async (place, lifetime) => {
  const list = h("ol", { class: "timeline", "aria-label": "Events" })
  const older = h("div", { class: "row middle" })
  let kind = ""
  let before: string | undefined
  let after: string | undefined
  let newEvents = 0
  /** Reads a page of events. Returns undefined if the user selected another kind before the response. */
  const read = async (more: {
    readonly before?: string
    readonly after?: string
  }): Promise<RecentEvents | undefined> => {
    const requested = kind
    const ofKind = requested === "" ? {} : { kind: requested }
    const found = await call("GET /admin/events", { query: { limit: pageSize, ...ofKind, ...more } })
    return requested === kind ? found : undefined
  }

  const drawOlder = (): void =>
    fill(
      older,
      before !== undefined &&
        actionButton(
          "Older events",
          async () => {
            const from = before
            if (from === undefined) return
            const found = await read({ before: from })
            // The result is ignored if the list was reloaded in the meantime.
            if (found === undefined || before !== from) return
            before = found.before
            list.append(...found.data.map((event) => entry(event, false)))
            drawOlder()
          },
          { class: "plain" },
        ),
    )
  const start = async () => {
    const found = await read({})
    if (found === undefined) return
    before = found.before
    after = found.after
    newEvents = 0
    fill(
      list,
      found.data.map((event) => entry(event, false)),
    )
    drawOlder()
  }
  const poll = coalesced(async () => {
    if (document.hidden || lifetime.hasEnded) return
    try {
      if (after === undefined) return await start()
      const found = await read({ after })
      if (found === undefined) return
      after = found.after
      newEvents += found.data.length
      // If one response cannot hold all new events, the list is reloaded, so that no events are missing.
      if (found.before !== undefined || newEvents > maxNewEvents) return await start()
      list.prepend(...found.data.map((event) => entry(event, true)))
    } catch {
      // A failure is ignored, because the next poll tries again.
    }
  })
  fill(
    place,
    choice(
      "Show",
      "kind",
      [["", "All events"], ...kinds.map((name) => [name, name.replaceAll("_", " ")] as const)],
      {
        onchange: ({ currentTarget }) => {
          kind = currentTarget.value
          after = undefined
          void poll()
        },
      },
    ),
    list,
    older,
  )
  await start()
  const timer = setInterval(poll, pollIntervalMs)
  lifetime.onEnd(() => clearInterval(timer))
  lifetime.onEnd(subscribe("market", { onEvent: poll }))
}
