import type { Mail } from "../../schema/turn.ts"

export interface Rendered {
  readonly subject: string
  readonly text: string
}

type Data = Mail["data"]
type Template = (data: Data) => Rendered

const word = (data: Data, name: string): string => {
  const value = data[name]
  return typeof value === "string" || typeof value === "number" ? String(value) : ""
}

const lines = (...all: ReadonlyArray<string>): string => `${all.join("\n")}\n`

const money = (data: Data, name: string): string => {
  const cents = data[name]
  return typeof cents === "number" ? `$${(cents / 100).toFixed(2)}` : word(data, name)
}

/** A receipt's lines: plain text, or an id with its price in cents. */
const itemLines = (data: Data): ReadonlyArray<string> => {
  const items = data["items"]
  if (!Array.isArray(items)) return []
  return items.map((item: unknown) => {
    if (typeof item !== "object" || item === null) return `- ${String(item)}`
    const facts = item as Data
    const name = word(facts, "emoji_id") || word(facts, "name") || word(facts, "item_type")
    return `- ${name}  ${money(facts, "price_in_cents") || money(facts, "unit_price_in_cents")}`.trimEnd()
  })
}

/** Every kind of letter the service writes. Plain text: it reads the same everywhere and tracks nobody. */
const templates: Readonly<Record<string, Template>> = {
  magic_link: (data) => ({
    subject: "Your login link",
    text: lines(
      "Open this link to log in:",
      "",
      word(data, "link"),
      "",
      "It works once, and only for a short while. If you did not ask for it, ignore this mail: nobody gets in without it.",
    ),
  }),
  confirm_email: (data) => ({
    subject: "Confirm your email address",
    text: lines(
      "Open this link to confirm that this address is yours:",
      "",
      word(data, "link"),
      "",
      "It works once, and only for a short while. If you did not register here, ignore this mail.",
    ),
  }),
  security_notice: (data) => ({
    subject: "A change to your account",
    text: lines(
      `This is to tell you that ${word(data, "change")}.`,
      "",
      "If it was not you, contact us at once.",
    ),
  }),
  two_factor_sms: (data) => ({
    subject: "Your code",
    text: `${word(data, "code")} is your code. It is good for ten minutes. We never ask you for it by phone.`,
  }),
  transfer_sender_code: (data) => ({
    subject: `Confirm the transfer of ${word(data, "eid")}`,
    text: lines(
      `You are about to transfer ${word(data, "eid")} to ${word(data, "recipient")}.`,
      "",
      `Your code: ${word(data, "code")}`,
      "",
      "It is good for ten minutes. If you did not start this transfer, do not give the code to anybody.",
    ),
  }),
  transfer_receiver_code: (data) => ({
    subject: `Accept the transfer of ${word(data, "eid")}`,
    text: lines(
      `${word(data, "sender") || "Somebody"} wants to transfer ${word(data, "eid")} to you.`,
      "",
      `Your code: ${word(data, "code")}`,
      "",
      "It is good for ten minutes. Without it nothing is transferred.",
    ),
  }),
  transfer_invitation: (data) => ({
    subject: `${word(data, "eid") || "An emoji id"} is waiting for you`,
    text: lines(
      `${word(data, "sender") || "Somebody"} wants to give you ${word(data, "eid") || "an emoji id"}.`,
      ...(word(data, "message") === "" ? [] : ["", word(data, "message")]),
      ...(word(data, "code") === "" ? [] : ["", `Your code: ${word(data, "code")}`]),
      ...(word(data, "link") === ""
        ? []
        : ["", "Log in with this address to accept it:", "", word(data, "link")]),
    ),
  }),
  transfer_accepted: (data) => ({
    subject: `${word(data, "eid")} was transferred`,
    text: lines(
      `${word(data, "recipient")} has accepted ${word(data, "eid")}. It is no longer yours.`,
      "",
      "If you did not want this, contact us at once.",
    ),
  }),
  order_receipt: (data) => ({
    subject: `Receipt for order ${word(data, "order_number")}`,
    text: lines(
      `Order ${word(data, "order_number")} is paid.`,
      "",
      ...itemLines(data),
      "",
      `Total: ${money(data, "total")}`,
    ),
  }),
  order_expired: (data) => ({
    subject: `Order ${word(data, "order_number")} has expired`,
    text: lines(
      `Order ${word(data, "order_number")} was not paid in time; its ids are free again.`,
      "",
      "Your cart still lists them.",
    ),
  }),
  interest_available: (data) => ({
    subject: `${word(data, "emoji_id")} is available`,
    text: lines(
      `${word(data, "emoji_id")}, which you wanted to hear about, is available now.`,
      ...(word(data, "link") === "" ? [] : ["", word(data, "link")]),
    ),
  }),
}

/** A kind without words of its own still says what it knows. */
const plain = (kind: string, data: Data): Rendered => ({
  subject: kind.replaceAll("_", " "),
  text: lines(...Object.keys(data).map((name) => `${name.replaceAll("_", " ")}: ${word(data, name)}`)),
})

export const render = ({ data, kind }: Pick<Mail, "data" | "kind">): Rendered =>
  templates[kind]?.(data) ?? plain(kind, data)
