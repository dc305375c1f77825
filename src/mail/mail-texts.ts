import type { Mail } from "../../schema/turn.ts"
import { dollars } from "../web/money.ts"
import { type OutboxMail, type Part, type Rendered, renderMail } from "./mail-layout.ts"

type Data = Mail["data"]
type Template = (data: Data) => OutboxMail

const word = (data: Data, name: string): string => {
  const value = data[name]
  return typeof value === "string" || typeof value === "number" ? String(value) : ""
}

const money = (data: Data, name: string): string => {
  const cents = data[name]
  return typeof cents === "number" ? dollars(cents) : word(data, name)
}

/** A receipt's lines: plain text, or an id with its price in cents. */
const itemsOf = (data: Data): ReadonlyArray<readonly [string, string]> => {
  const items = data["items"]
  if (!Array.isArray(items)) return []
  return items.map((item: unknown) => {
    if (typeof item !== "object" || item === null) return [String(item), ""]
    const facts = item as Data
    const name = word(facts, "emoji_id") || word(facts, "name") || word(facts, "item_type")
    return [name, money(facts, "price_in_cents") || money(facts, "unit_price_in_cents")]
  })
}

/** The part, where there is something to say. */
const some = (value: string, part: (value: string) => Part): ReadonlyArray<Part> =>
  value === "" ? [] : [part(value)]
const linkOf = (data: Data, label: string) => some(word(data, "link"), (link) => ({ link, label }))
const codeOf = (data: Data) => some(word(data, "code"), (code) => ({ code }))
const emojiOf = (data: Data, name: string) => some(word(data, name), (emoji) => ({ emoji }))
/** How long a code is good, in the largest unit that fits. Letters of a version before do not say: it was ten minutes. */
const lifeOf = ({ good_seconds: given }: Data): string => {
  const seconds = typeof given === "number" ? given : 600
  const [size, unit] =
    seconds % 3600 === 0 ? [3600, "hour"] : seconds % 60 === 0 ? [60, "minute"] : [1, "second"]
  const count = seconds / Number(size)
  return `It is good for ${count} ${unit}${count === 1 ? "" : "s"}.`
}

const isSome = (cents: unknown): boolean => typeof cents === "number" && cents > 0
/** Money that came in and bought nothing. Letters of a version before do not say. */
const keptOf = (data: Data): ReadonlyArray<Part> =>
  isSome(data["kept"])
    ? [`${money(data, "kept")} came in for it and is kept for you: ask us to give it back.`]
    : []

const askForIt = "The money is kept for you: ask us to give it back."
/** How a payment found its order, and what comes of the money. */
const keptReasons: Readonly<Record<string, readonly [string, string]>> = {
  paid: ["was paid already", askForIt],
  over: ["is over: its ids were not kept", askForIt],
  in_cart: ["is back in your cart", "It counts there: check out to have what you chose."],
}

/** Every kind of letter the service writes. */
const templates: Readonly<Record<string, Template>> = {
  magic_link: (data) => ({
    subject: "Your login link",
    parts: [
      ...linkOf(data, "Open this link to log in"),
      {
        small:
          "It works once, and only for a short while. If you did not ask for it, ignore this mail: nobody gets in without it.",
      },
    ],
  }),
  confirm_email: (data) => ({
    subject: "Confirm your email address",
    parts: [
      ...linkOf(data, "Open this link to confirm that this address is yours"),
      {
        small: "It works once, and only for a short while. If you did not register here, ignore this mail.",
      },
    ],
  }),
  security_notice: (data) => ({
    subject: "A change to your account",
    parts: [
      `This is to tell you that ${word(data, "change")}.`,
      { small: "If it was not you, contact us at once." },
    ],
  }),
  two_factor_sms: (data) => ({
    subject: "Your code",
    parts: [
      `${word(data, "code")} is your code. It is good for ten minutes. We never ask you for it by phone.`,
    ],
  }),
  transfer_sender_code: (data) => ({
    subject: `Confirm the transfer of ${word(data, "eid")}`,
    parts: [
      ...emojiOf(data, "eid"),
      `You are about to transfer ${word(data, "eid")} to ${word(data, "recipient")}.`,
      ...codeOf(data),
      {
        small: `${lifeOf(data)} If you did not start this transfer, do not give the code to anybody.`,
      },
    ],
  }),
  transfer_receiver_code: (data) => ({
    subject: `Accept the transfer of ${word(data, "eid")}`,
    parts: [
      ...emojiOf(data, "eid"),
      `${word(data, "sender") || "Somebody"} wants to transfer ${word(data, "eid")} to you.`,
      ...some(word(data, "message"), (message) => message),
      ...codeOf(data),
      { small: `${lifeOf(data)} Without it nothing is transferred.` },
    ],
  }),
  transfer_invitation: (data) => ({
    subject: `${word(data, "eid") || "An emoji id"} is waiting for you`,
    parts: [
      ...emojiOf(data, "eid"),
      `${word(data, "sender") || "Somebody"} wants to give you ${word(data, "eid") || "an emoji id"}.`,
      ...some(word(data, "message"), (message) => message),
      ...codeOf(data),
      ...linkOf(data, "Log in with this address to accept it"),
    ],
  }),
  transfer_accepted: (data) => ({
    subject: `${word(data, "eid")} was transferred`,
    parts: [
      ...emojiOf(data, "eid"),
      `${word(data, "recipient")} has accepted ${word(data, "eid")}. It is no longer yours.`,
      { small: "If you did not want this, contact us at once." },
    ],
  }),
  order_receipt: (data) => ({
    subject: `Receipt for order ${word(data, "order_number")}`,
    parts: [
      `Order ${word(data, "order_number")} is paid.`,
      { items: itemsOf(data), total: money(data, "total") },
      ...(isSome(data["overpaid"])
        ? [`${money(data, "overpaid")} more came in and is kept for you: ask us to give it back.`]
        : []),
    ],
  }),
  order_expired: (data) => ({
    subject: `Order ${word(data, "order_number")} has expired`,
    parts: [
      `Order ${word(data, "order_number")} was not paid${isSome(data["kept"]) ? " in full" : ""} in time; its ids are free again.`,
      ...(data["offered_again"] === true ? ["Your cart still lists them."] : []),
      ...keptOf(data),
    ],
  }),
  payment_kept: (data) => {
    const [why, what] = keptReasons[word(data, "found")] ?? keptReasons["over"]!
    return {
      subject: `A payment for order ${word(data, "order_number")}`,
      parts: [
        `${money(data, "amount")} came in for order ${word(data, "order_number")}, which ${why}.`,
        what,
      ],
    }
  },
  interest_available: (data) => ({
    subject: `${word(data, "emoji_id")} is available`,
    parts: [
      ...emojiOf(data, "emoji_id"),
      `${word(data, "emoji_id")}, which you wanted to hear about, is available now.`,
      ...linkOf(data, "Look at it"),
    ],
  }),
}

/** A kind without words of its own still says what it knows. */
const plain = (kind: string, data: Data): OutboxMail => ({
  subject: kind.replaceAll("_", " "),
  parts: Object.keys(data).map((name) => `${name.replaceAll("_", " ")}: ${word(data, name)}`),
})

export const render = ({ data, kind }: Pick<Mail, "data" | "kind">): Rendered =>
  renderMail(templates[kind]?.(data) ?? plain(kind, data))
