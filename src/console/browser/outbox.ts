import { actionButton } from "./parts/actions.ts"
import { byId, fill, h } from "./parts/dom.ts"
import { clockTime } from "./parts/format.ts"
import { internal, type Mail } from "./platform/request.ts"

/** Whether the service runs outside production. Then sent mail is stored in an outbox that the console can read. */
export const isDevelopment = (): boolean => byId("view").dataset["development"] === "yes"

export const latestMessage = async (to: string, kind: string): Promise<Mail | undefined> =>
  (await internal.outbox(to)).find((message) => message.kind === kind)

interface Hint {
  readonly to: string
  readonly kind: string
  readonly take: (message: Mail) => unknown
  readonly label?: string
}

/**
 * Returns a button that reads the latest message of a kind from the development outbox and passes it to `take`.
 * Returns false in production.
 */
export const outboxHint = ({ kind, label = "Fill in the code from the test mailbox", take, to }: Hint) => {
  if (!isDevelopment()) return false
  const status = h("span", { class: "soft small" })
  const read = async () => {
    const message = await latestMessage(to, kind)
    if (message === undefined) return fill(status, "No message has arrived yet.")
    fill(status, `From the test mailbox of this development server, ${clockTime(message.at)}.`)
    return take(message)
  }
  return h("p", { class: "outbox small" }, actionButton(label, read, { class: "plain small" }), " ", status)
}
