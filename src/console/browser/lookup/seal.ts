import { fill, h } from "../parts/dom.ts"
import { icon } from "../parts/icon.ts"
import { notify } from "../parts/notices.ts"
import { explain } from "../platform/http.ts"
import { type CheckedProof, refusalOf } from "./signed-answer.ts"

/** What is known about the shown answer. `error` says why it was not checked, or why it must not be trusted. */
export type SealState =
  | { readonly kind: "checking" }
  | { readonly kind: "verified"; readonly proof: CheckedProof }
  | { readonly kind: "refused" | "unchecked"; readonly error: unknown }
  | { readonly kind: "offline" }

const guide = "/docs/verification#the-checks"

const advice: Readonly<Record<string, string>> = {
  expired: "If the date and time of this device are wrong, correct them, and then check again.",
}
const usualAdvice =
  "Something between the service and this browser may have changed the answer. Check again, or use another network. If this stays, ask the recipient for the address in another way, and tell the operator of the service."

const notice = (kind: "bad" | "warn", ...children: ReadonlyArray<Node | string>) =>
  h("div", { class: `notice seal-note ${kind}`, role: "alert" }, children)

const refusedNote = (error: unknown) => {
  const code = refusalOf(error) ?? ""
  return notice(
    "bad",
    h("h2", { class: "with-icon" }, icon("shield-alert"), h("span", {}, "Do not pay to this id now")),
    h("p", {}, "The answer could not be verified, so its records are not shown. "),
    h("p", {}, `${(error as Error).message} ${advice[code] ?? usualAdvice}`),
    h(
      "p",
      { class: "small" },
      "Failed check: ",
      h("code", {}, code),
      ". ",
      h("a", { href: guide }, "What the checks are"),
    ),
  )
}

const uncheckedNote = (error: unknown) =>
  notice(
    "warn",
    h("p", { class: "with-icon" }, icon("shield-off"), h("span", {}, "This answer is not verified.")),
    h(
      "p",
      {},
      `There is no signed answer to check. ${explain(error)} Before you pay, check again, or ask the recipient.`,
    ),
  )

const words = {
  checking: ["shield", "Checking the signature …"],
  verified: ["shield-check", "Signed answer, checked"],
  refused: ["refresh-cw", "Check again"],
  unchecked: ["refresh-cw", "Check again"],
  offline: ["shield-off", "Not checked, connection lost"],
} as const

/**
 * Shows whether the signature of an answer was checked. The seal of a checked answer opens its proof. It is the same button in
 * all states, so that it keeps the focus.
 */
export const makeSeal = (checkAgain: () => void) => {
  let state: SealState = { kind: "checking" }
  const open = async (): Promise<void> => {
    if (state.kind === "refused" || state.kind === "unchecked") return checkAgain()
    if (state.kind !== "verified") return
    const { proof } = state
    try {
      const { showProof } = await import("./proof-dialog.ts")
      showProof(proof)
    } catch (error) {
      notify(explain(error), "bad")
    }
  }
  const button = h("button", { type: "button", class: "plain small with-icon seal", onclick: open })
  const note = h("div", {})
  const set = (next: SealState): void => {
    state = next
    const { kind } = next
    const [name, text] = words[kind]
    button.dataset["state"] = kind
    if (kind === "checking" || kind === "offline") button.setAttribute("aria-disabled", "true")
    else button.removeAttribute("aria-disabled")
    if (kind === "verified") button.setAttribute("aria-haspopup", "dialog")
    else button.removeAttribute("aria-haspopup")
    fill(button, icon(name), h("span", {}, text))
    fill(
      note,
      next.kind === "refused" && refusedNote(next.error),
      next.kind === "unchecked" && uncheckedNote(next.error),
    )
  }
  set(state)
  return {
    kind: () => state.kind,
    set,
    element: h("div", {}, note, h("div", { class: "row middle", role: "status" }, button)),
  }
}
