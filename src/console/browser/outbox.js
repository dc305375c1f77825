import { actionButton } from "./parts/actions.js"
import { fill, h } from "./parts/dom.js"
import { clockTime } from "./parts/format.js"
import { request } from "./platform/http.js"

/** Outside production mail is not sent but can be read, so that everything can be tried. */
export const isDevelopment = () => document.getElementById("view").dataset.development === "yes"

/** @param {string} to @param {string} kind */
export const latestLetter = async (to, kind) => {
  const letters = await request("GET", `/dev/outbox?to=${encodeURIComponent(to)}`)
  return letters.find((letter) => letter.kind === kind)
}

/**
 * A look into the development outbox.
 * @param {{to: string, kind: string, take: (letter: {code?: string, link?: string}) => unknown, label?: string}} how
 */
export const outboxHint = ({ kind, label = "Read the mail here", take, to }) => {
  if (!isDevelopment()) return false
  const said = h("span", { class: "soft small" })
  return h(
    "p",
    { class: "outbox small" },
    actionButton(
      label,
      async () => {
        const letter = await latestLetter(to, kind)
        if (letter === undefined) return fill(said, "Nothing has arrived yet.")
        fill(said, `From the development outbox, ${clockTime(letter.at)}.`)
        take(letter)
      },
      { class: "plain small" },
    ),
    " ",
    said,
  )
}
