import { actionButton } from "../parts/actions.ts"
import { type Child, h } from "../parts/dom.ts"
import { notify } from "../parts/notices.ts"

const copy = async (text: string, what: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
    notify(`${what} was copied.`, "good")
  } catch {
    notify("The browser did not allow copying. Select the text and copy it yourself.", "warn")
  }
}

/** A button that copies a text. `what` names the text, such as "The API key". */
export const copyButton = (text: string, what: string) =>
  actionButton("Copy", () => copy(text, what), {
    class: "plain small",
    sign: "copy",
    "aria-label": `Copy ${what.charAt(0).toLowerCase()}${what.slice(1)}`,
  })

/** Shows a secret that is not shown again. */
export const secretCard = (what: string, secret: string, ...more: ReadonlyArray<Child>) =>
  h(
    "section",
    { class: "card good-edge" },
    h("h2", {}, `Copy ${what.charAt(0).toLowerCase()}${what.slice(1)} now`),
    h("p", {}, "It is not shown again. Keep it like a password."),
    h("p", { class: "row secret-row" }, h("code", { class: "secret" }, secret), copyButton(secret, what)),
    more,
  )
