import type { Mail } from "../../schema/turn.ts"
import { dollars } from "../web/money.ts"
import { idsChanged } from "./id-change-text.ts"
import { type OutboxMail, type Part, type Rendered, renderMail, renderText } from "./mail-layout.ts"

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

/**
 * Returns the names and prices of the items of a receipt. A stored item is a plain text, or an object with a name or
 * an emoji id, and a price in cents.
 */
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

/** Returns a list with the part for the value. The list is empty if the value is empty. */
const some = (value: string, part: (value: string) => Part): ReadonlyArray<Part> =>
  value === "" ? [] : [part(value)]
const linkOf = (data: Data, label: string) => some(word(data, "link"), (link) => ({ link, label }))
const codeOf = (data: Data) => some(word(data, "code"), (code) => ({ code }))
const emojiOf = (data: Data, name: string) => some(word(data, name), (emoji) => ({ emoji }))
/**
 * Returns a sentence that says how long a code is valid, in the largest unit that gives a whole number. Mails stored
 * by older versions do not contain this time. Their codes are valid for ten minutes.
 */
const lifeOf = ({ good_seconds: given }: Data): string => {
  const seconds = typeof given === "number" ? given : 600
  const [size, unit] =
    seconds % 3600 === 0 ? [3600, "hour"] : seconds % 60 === 0 ? [60, "minute"] : [1, "second"]
  const count = seconds / Number(size)
  return `The code is valid for ${count} ${unit}${count === 1 ? "" : "s"}.`
}

/** Describes an API key: its name and id, when it was last used, and whether it may do sensitive operations. */
const apiKeyLine = (key: Data): string => {
  const use = word(key, "last_used_at")
  const end = word(key, "expires_at")
  return [
    `${word(key, "name")} (svc_${word(key, "id")}_…)`,
    use === "" ? "not used yet" : `last used ${use}`,
    ...(key["sensitive"] === true ? ["can do sensitive operations"] : []),
    ...(end === "" ? [] : [`expires ${end}`]),
  ].join(", ")
}

/** Lists the API keys of the account after a change of the password. Empty if the account has no keys. */
const apiKeysOf = (data: Data): ReadonlyArray<Part> => {
  const keys = data["api_keys"]
  if (!Array.isArray(keys) || keys.length === 0) return []
  const text =
    data["api_keys_deleted"] === true
      ? "These API keys of your account were deleted:"
      : "Your API keys still work. Delete those that you do not know or no longer need:"
  return [text, { list: keys.map((key) => apiKeyLine(key as Data)) }]
}

const isSome = (cents: unknown): boolean => typeof cents === "number" && cents > 0
/**
 * Returns a list with one sentence about money that was received and not used. The list is empty if there is no such
 * money, and for mails stored by older versions, which do not contain the amount.
 */
const unusedPayment = (data: Data): ReadonlyArray<Part> =>
  isSome(data["kept"])
    ? [`We received ${money(data, "kept")} for this order. Contact us to get it refunded.`]
    : []

const askForRefund = "We have not used the money. Contact us to get it refunded."
/**
 * Two sentences for each state that the order can have when the payment arrives. The first one describes the state,
 * the second one says what happens with the money.
 */
const keptReasons: Readonly<Record<string, readonly [string, string]>> = {
  paid: ["The order was already paid.", askForRefund],
  over: [
    "The order has expired or was cancelled, and its emoji ids are no longer reserved for you.",
    askForRefund,
  ],
  in_cart: [
    "The order is back in your cart.",
    "The money counts towards that cart. Check out again to complete your purchase.",
  ],
}

const templates: Readonly<Record<string, Template>> = {
  magic_link: (data) => ({
    subject: "Your sign-in link",
    parts: [
      ...linkOf(data, "Open this link to sign in"),
      {
        small:
          "The link works once and expires soon. If you did not request it, ignore this email. No one can sign in without the link.",
      },
    ],
  }),
  confirm_email: (data) => ({
    subject: "Confirm your email address",
    parts: [
      ...linkOf(data, "Open this link to confirm your email address"),
      {
        small: "The link works once and expires soon. If you did not register here, ignore this email.",
      },
    ],
  }),
  password_reset: (data) => ({
    subject: "Reset your password",
    parts: [
      ...linkOf(data, "Open this link to choose a new password"),
      {
        small:
          "The link works once and expires soon. If you did not request it, ignore this email. Your password stays as it is.",
      },
    ],
  }),
  security_notice: (data) => ({
    subject: "Your account was changed",
    parts: [
      `Security notice: ${word(data, "change")}.`,
      ...apiKeysOf(data),
      { small: "If you did not make this change, contact us immediately." },
    ],
  }),
  return_link_changed: (data) => ({
    subject: `The return link of ${word(data, "organization")} was changed`,
    parts: [
      `Security notice: the operator changed the return link of your organization ${word(data, "organization")}. Your users return to this link with their refresh token.`,
      `Old link: ${word(data, "before") || "none"}`,
      `New link: ${word(data, "after")}`,
      { small: "If you did not ask for this change, contact us immediately." },
    ],
  }),
  mint_signature: (data) => ({
    subject: `Mint signature created for ${word(data, "emoji_id")}`,
    parts: [
      ...emojiOf(data, "emoji_id"),
      `A signature was created with which the account ${word(data, "account")} can mint ${word(data, "emoji_id")} as a token until ${word(data, "expires_at")}.`,
      {
        small: "If you did not request it, change your password and contact us immediately.",
      },
    ],
  }),
  two_factor_sms: (data) => ({
    subject: "Your code",
    parts: [
      `${word(data, "code")} is your verification code. It is valid for ten minutes. We never ask for it by phone.`,
    ],
  }),
  transfer_sender_code: (data) => ({
    subject: `Confirm the transfer of ${word(data, "eid")}`,
    parts: [
      ...emojiOf(data, "eid"),
      `You are about to transfer ${word(data, "eid")} to ${word(data, "recipient")}.`,
      "Enter this code to confirm the transfer.",
      ...codeOf(data),
      {
        small: `${lifeOf(data)} If you did not start this transfer, do not share the code with anyone.`,
      },
    ],
  }),
  transfer_receiver_code: (data) => ({
    subject: `Accept the transfer of ${word(data, "eid")}`,
    parts: [
      ...emojiOf(data, "eid"),
      `${word(data, "sender") || "Someone"} wants to transfer ${word(data, "eid")} to you.`,
      ...some(word(data, "message"), (message) => `Message from the sender: ${message}`),
      "Enter this code to accept the transfer.",
      ...codeOf(data),
      ...linkOf(data, "Your email address is not confirmed yet. Sign in and confirm it to see the transfer"),
      { small: `${lifeOf(data)} The transfer happens only if you enter it.` },
    ],
  }),
  transfer_invitation: (data) => ({
    subject: `Accept the transfer of ${word(data, "eid") || "an emoji id"}`,
    parts: [
      ...emojiOf(data, "eid"),
      `${word(data, "sender") || "Someone"} wants to transfer ${word(data, "eid") || "an emoji id"} to you.`,
      ...some(word(data, "message"), (message) => `Message from the sender: ${message}`),
      ...codeOf(data),
      ...linkOf(data, "Sign in with this email address to accept the transfer"),
    ],
  }),
  transfer_accepted: (data) => ({
    subject: `${word(data, "eid")} was transferred`,
    parts: [
      ...emojiOf(data, "eid"),
      `${word(data, "recipient")} accepted the transfer of ${word(data, "eid")}. You no longer own it.`,
      { small: "If you did not start this transfer, contact us immediately." },
    ],
  }),
  order_receipt: (data) => ({
    subject: `Receipt for order ${word(data, "order_number")}`,
    parts: [
      `Order ${word(data, "order_number")} is paid.`,
      { items: itemsOf(data), total: money(data, "total") },
      ...(isSome(data["overpaid"])
        ? [`You paid ${money(data, "overpaid")} too much. Contact us to get it refunded.`]
        : []),
    ],
  }),
  order_expired: (data) => ({
    subject: `Order ${word(data, "order_number")} has expired`,
    parts: [
      `Order ${word(data, "order_number")} was not paid${isSome(data["kept"]) ? " in full" : ""} in time. Its emoji ids are no longer reserved for you.`,
      ...(data["offered_again"] === true
        ? ["They are still in your cart, and you can check out again while they are available."]
        : []),
      ...unusedPayment(data),
    ],
  }),
  payment_kept: (data) => {
    const [state, consequence] = keptReasons[word(data, "found")] ?? keptReasons["over"]!
    return {
      subject: `We received a payment for order ${word(data, "order_number")}`,
      parts: [
        `We received ${money(data, "amount")} for order ${word(data, "order_number")}. ${state}`,
        consequence,
      ],
    }
  },
  emoji_ids_changed: idsChanged,
  interest_available: (data) => ({
    subject: `${word(data, "emoji_id")} is available`,
    parts: [
      ...emojiOf(data, "emoji_id"),
      `You asked us to notify you when ${word(data, "emoji_id")} becomes available. You can buy it now.`,
      ...linkOf(data, "View this emoji id"),
    ],
  }),
}

/** Creates the mail for a kind without a template. It lists the data, one line for each value. */
const plain = (kind: string, data: Data): OutboxMail => ({
  subject: kind.replaceAll("_", " "),
  parts: Object.keys(data).map((name) => `${name.replaceAll("_", " ")}: ${word(data, name)}`),
})

const partsOf = ({ data, kind }: Pick<Mail, "data" | "kind">): OutboxMail =>
  templates[kind]?.(data) ?? plain(kind, data)

export const render = (mail: Pick<Mail, "data" | "kind">): Rendered => renderMail(partsOf(mail))

/** The subject and the plain text of a mail, without its HTML. */
export const renderPlain = (mail: Pick<Mail, "data" | "kind">) => renderText(partsOf(mail))
