import { actionButton } from "./parts/actions.js"
import { fill, h } from "./parts/dom.js"
import { clockTime } from "./parts/format.js"
import { request } from "./platform/http.js"

/** Whether the service runs outside production. Then sent mail is stored in an outbox that the console can read. */
export const isDevelopment = () => document.getElementById("view").dataset.development === "yes"

/** @param {string} to @param {string} kind */
export const latestMessage = async (to, kind) => {
  const messages = await request("GET", `/dev/outbox?to=${encodeURIComponent(to)}`)
  return messages.find((message) => message.kind === kind)
}

/**
 * Returns a button that reads the latest message of a kind from the development outbox and passes it to `take`.
 * Returns false in production.
 * @param {{to: string, kind: string, take: (message: {code?: string, link?: string}) => unknown, label?: string}} how
 */
export const outboxHint = ({ kind, label = "Fill in from outbox", take, to }) => {
  if (!isDevelopment()) return false
  const status = h("span", { class: "soft small" })
  return h(
    "p",
    { class: "outbox small" },
    actionButton(
      label,
      async () => {
        const message = await latestMessage(to, kind)
        if (message === undefined) return fill(status, "No message has arrived yet.")
        fill(status, `From the development outbox, ${clockTime(message.at)}.`)
        take(message)
      },
      { class: "plain small" },
    ),
    " ",
    status,
  )
}
