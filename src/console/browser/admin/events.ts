import type { RecentEvent, RecentEvents } from "../../../client/api-types.ts"
import { actionButton } from "../parts/actions.ts"
import { choice, empty, fill, h } from "../parts/dom.ts"
import { clockTime, when } from "../parts/format.ts"
import { coalesced } from "../parts/signal.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { subscribe } from "../platform/live.ts"
import { eventKinds, sentenceOf } from "./event-sentences.ts"

const pollIntervalMs = 3000
/**
 * When more new events than this were added to the list, the list is reloaded, so that it does not become too long.
 */
const maxNewEvents = 500
const pageSize = 50

/** The time of an event of today, and the date and time of an older one. */
const shownTime = (at: string): string =>
  new Date(at).toDateString() === new Date().toDateString() ? clockTime(at) : when(at)

const kindOf = ({ event }: RecentEvent): string => event.split(".")[0] ?? ""

const detailsOf = ({ channel, data, event, offset }: RecentEvent) =>
  h(
    "details",
    { class: "event-details small" },
    h("summary", {}, "Details"),
    h("p", { class: "soft" }, h("code", {}, event), ` · number ${offset} of `, h("code", {}, channel)),
    h("pre", {}, JSON.stringify(data, null, 2)),
  )

const entry = (event: RecentEvent, isNew: boolean) =>
  h(
    "li",
    { class: isNew ? "event changed" : "event" },
    h("span", { class: "event-sign", "aria-hidden": "true" }, eventKinds[kindOf(event)]?.[1] ?? "•"),
    h("p", {}, sentenceOf(event)),
    h("time", { class: "soft small", datetime: event.at, title: when(event.at) }, shownTime(event.at)),
    detailsOf(event),
  )

const nothing = (kind: string) =>
  kind === ""
    ? empty("🕰️", "No events yet.")
    : empty(
        eventKinds[kind]?.[1] ?? "",
        `No events of the kind “${eventKinds[kind]?.[0] ?? kind}” yet. New ones appear here.`,
      )

/** Draws all events, newest first. New events are added automatically. */
export const drawEvents: Section["draw"] = async (place, lifetime) => {
  const list = h("ol", { class: "timeline", "aria-label": "Events" })
  const none = h("div", {})
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
  const drawNone = (): void => {
    list.hidden = list.childElementCount === 0
    fill(none, list.hidden && nothing(kind))
  }
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
    drawNone()
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
      drawNone()
    } catch {
      // A failure is ignored, because the next poll tries again.
    }
  })
  fill(
    place,
    choice(
      "Show",
      "kind",
      [["", "All events"], ...Object.entries(eventKinds).map(([kind, [name]]) => [kind, name] as const)],
      {
        onchange: ({ currentTarget }) => {
          kind = currentTarget.value
          after = undefined
          void poll()
        },
      },
    ),
    list,
    none,
    older,
  )
  await start()
  const timer = setInterval(poll, pollIntervalMs)
  lifetime.onEnd(() => clearInterval(timer))
  lifetime.onEnd(subscribe("market", { onEvent: poll }))
}
