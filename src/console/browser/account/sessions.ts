import type { DisplaySession } from "../../../client/api-types.ts"
import { confirmButton } from "../parts/actions.ts"
import { badge, type Child, fill, h } from "../parts/dom.ts"
import { when } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { coalesced } from "../parts/signal.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { subscribe } from "../platform/live.ts"
import { signOutHere } from "../platform/session.ts"

const statusBadges: Readonly<Record<string, () => Child>> = {
  Pending: () => badge("Waiting for two-factor code", "warn"),
  Locked: () => badge("Two-factor codes locked", "warn"),
  Stale: () => badge("Needs a new two-factor code", "warn"),
  Verified: () => false,
}

const endButton = ({ current, device = "Unknown device", id }: DisplaySession, again: () => Promise<void>) =>
  confirmButton(
    "End session",
    {
      question: current ? "End this session?" : `End the session of ${device}?`,
      consequence: current ? "You are signed out here." : "The device is signed out immediately.",
    },
    async () => {
      if (current) {
        await signOutHere()
        location.hash = "#/sign-in"
      } else await call("DELETE /account/sessions/{session_id}", { params: { session_id: id } })
      notify("The session was ended.", "good")
      if (!current) await again()
    },
    { class: "plain" },
  )

const item = (session: DisplaySession, again: () => Promise<void>) =>
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

/** Lists the user's sessions, and reads the list again when one of them changes. */
export const drawSessions: Section["draw"] = async (place, lifetime) => {
  const list = h("ul", { class: "plain-list", "aria-label": "Sessions" })
  const load = async (): Promise<void> => {
    const sessions = await call("GET /account/sessions")
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
