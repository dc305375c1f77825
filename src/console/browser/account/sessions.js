import { confirmButton } from "../parts/actions.js"
import { badge, fill, h } from "../parts/dom.js"
import { when } from "../parts/format.js"
import { notify } from "../parts/notices.js"
import { coalesced } from "../parts/signal.js"
import { call, get } from "../platform/api.js"
import { subscribe } from "../platform/live.js"
import { forget } from "../platform/session.js"

const statusBadges = {
  Pending: () => badge("Waiting for two-factor code", "warn"),
  Locked: () => badge("Two-factor codes locked", "warn"),
  Stale: () => badge("Needs a new two-factor code", "warn"),
  Verified: () => false,
}

/** @param {{id: string, device?: string, current: boolean}} session @param {() => Promise<void>} again */
const endButton = ({ current, device = "Unknown device", id }, again) =>
  confirmButton(
    "End session",
    {
      question: current ? "End this session?" : `End the session of ${device}?`,
      consequence: current ? "You are signed out here." : "The device is signed out immediately.",
    },
    async () => {
      await call("DELETE", `/account/sessions/${id}`)
      notify("The session was ended.", "good")
      if (current) forget()
      else await again()
    },
    { class: "plain" },
  )

const item = (session, again) =>
  h(
    "li",
    { class: "card row spread" },
    h(
      "div",
      {},
      h("strong", {}, session.device ?? "Unknown device"),
      " ",
      session.current && badge("This session", "good"),
      " ",
      statusBadges[session.status]?.(),
      h("br"),
      h(
        "span",
        { class: "soft small" },
        [
          session.address,
          session.current ? "in use now" : `last used ${when(session.last_used_at)}`,
          `signed in ${when(session.created_at)}`,
        ]
          .filter(Boolean)
          .join(" · "),
      ),
    ),
    endButton(session, again),
  )

/**
 * Lists the user's sessions, and reads the list again when one of them changes.
 * @param {Element} place @param {any} lifetime
 */
export const drawSessions = async (place, lifetime) => {
  const list = h("ul", { class: "plain-list", "aria-label": "Sessions" })
  const load = async () => {
    const sessions = await get("/account/sessions")
    fill(
      list,
      sessions.map((session) => item(session, load)),
    )
  }
  fill(
    place,
    h(
      "p",
      { class: "soft" },
      "The devices that are signed in to your account. If you do not know one, end its session and change your password.",
    ),
    list,
  )
  const reload = coalesced(() => load().catch(() => {}))
  lifetime.onEnd(subscribe("session", { onEvent: reload }))
  await load()
}
