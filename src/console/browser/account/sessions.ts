import type { DisplaySession } from "../../../client/api-types.ts"
import { actionButton, confirmButton } from "../parts/actions.ts"
import { badge, type Child, fill, h } from "../parts/dom.ts"
import { when } from "../parts/format.ts"
import { notify } from "../parts/notices.ts"
import { coalesced } from "../parts/signal.ts"
import type { Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { subscribe } from "../platform/live.ts"
import { signOutEverywhere, signOutHere } from "../platform/session.ts"

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
    { sign: "log-out", class: "plain" },
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

const leave = async (signOut: () => Promise<void>, done: string): Promise<void> => {
  await signOut()
  location.hash = "#/sign-in"
  notify(done)
}

const signOutCard = () =>
  h(
    "section",
    { class: "card" },
    h("h2", {}, "Sign out"),
    h("p", { class: "soft" }, "Your other devices stay signed in, unless you sign out of all devices."),
    h(
      "div",
      { class: "row" },
      actionButton(
        "Sign out of this device",
        () => leave(signOutHere, "You are signed out of this device."),
        { sign: "log-out", class: "plain" },
      ),
      confirmButton(
        "Sign out of all devices",
        {
          question: "Sign out of all devices?",
          consequence: "Every device and browser has to sign in again, also this one. API keys keep working.",
        },
        () => leave(signOutEverywhere, "You are signed out of all devices."),
        { sign: "log-out", class: "plain" },
      ),
    ),
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
    signOutCard(),
  )
  const reload = coalesced(() => load().catch(() => {}))
  lifetime.onEnd(subscribe("session", { onEvent: reload }))
  await load()
}
