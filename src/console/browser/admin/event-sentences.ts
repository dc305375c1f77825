import type { RecentEvent } from "../../../client/api-types.ts"
import { counted, dollars, when } from "../parts/format.ts"

/** Reads the members of an event's data. A missing member is an empty text or zero. */
class Facts {
  readonly #members: Readonly<Record<string, unknown>>

  constructor(data: unknown) {
    this.#members = typeof data === "object" && data !== null ? { ...data } : {}
  }

  text(name: string): string {
    const value = this.#members[name]
    return typeof value === "string" ? value : ""
  }

  number(name: string): number {
    const value = this.#members[name]
    return typeof value === "number" ? value : 0
  }

  length(name: string): number {
    const value = this.#members[name]
    return Array.isArray(value) ? value.length : 0
  }

  is(name: string): boolean {
    return this.#members[name] === true
  }
}

type Sentence = (facts: Facts) => string

/** The number of an order as the receipt shows it. */
const order = (facts: Facts): string => `order ${facts.text("order_id").slice(-8)}`.trim()
const id = (facts: Facts): string => facts.text("emoji_id") || facts.text("eid") || "an id"

const worth = (facts: Facts): string =>
  `${counted(facts.number("items"), "item")} for ${dollars(facts.number("total_in_cents"))}`

const ofOrder: Readonly<Record<string, Sentence>> = {
  Draft: (facts) => `${order(facts)} is an open cart: ${worth(facts)}.`,
  PendingPayment: (facts) =>
    `${order(facts)} waits for a payment of ${dollars(facts.number("remaining_due_in_cents"))}.`,
  Paid: (facts) => `${order(facts)} was paid: ${worth(facts)}.`,
  Cancelled: (facts) => `${order(facts)} was cancelled. Its ids are available again.`,
}

const changedOrder: Sentence = (facts) =>
  ofOrder[facts.text("status")]?.(facts) ?? `${order(facts)} was changed.`

const loggedOut: Readonly<Record<string, string>> = {
  logout: "A user signed out on all devices.",
  too_many_sessions: "A session was ended, because the user has too many sessions.",
  refresh_token_reused:
    "A session was ended, because an old refresh token was used again. Someone may have copied it.",
}

const records: Sentence = (facts) => {
  const [added, removed] = [facts.length("inserted"), facts.length("deleted")]
  if (added + removed === 0) return `Data of ${id(facts)} was changed.`
  const changes = [added > 0 && `${added} added`, removed > 0 && `${removed} removed`].filter(Boolean)
  return `The records of ${id(facts)} were changed: ${changes.join(", ")}.`
}

/** An event that the buyer's open pages get. The channel of the order has an event of its own. */
const toldBuyer =
  (what: Sentence): Sentence =>
  (facts) =>
    `The buyer was told: ${what(facts)}`

const expiring: Sentence = (facts) => `${order(facts)} expires in less than a minute unless it is paid.`
const expired: Sentence = (facts) => `${order(facts)} expired, because it was not paid in time.`

/** The kinds of events with their names in the list of kinds, and their signs. */
export const eventKinds: Readonly<Record<string, readonly [name: string, sign: string]>> = {
  cart: ["Carts", "🛒"],
  order: ["Orders", "🧾"],
  transfer: ["Transfers", "📮"],
  lootbox: ["Lootboxes", "🎁"],
  session: ["Sessions", "🔑"],
  interest: ["Interests", "🔔"],
  emoji_id: ["Ids", "🏷️"],
  emoji_ids: ["Notices to owners", "📣"],
  market: ["Market", "📈"],
}

/** One sentence per type of event. */
export const sentences: Readonly<Record<string, Sentence>> = {
  "cart.changed": toldBuyer(changedOrder),
  "cart.expiring": toldBuyer(expiring),
  "cart.expired": toldBuyer(expired),
  "order.changed": changedOrder,
  "order.paid": (facts) => `${order(facts)} was paid: ${worth(facts)}.`,
  "order.payment_received": (facts) => `A payment for ${order(facts)} arrived.`,
  "order.refunded": (facts) => `A refund of ${order(facts)} was completed.`,
  "transfer.created": (facts) => `A transfer of ${id(facts)} was started.`,
  "transfer.sender_accepted": (facts) =>
    `The sender confirmed the transfer of ${id(facts)}. The recipient must accept it.`,
  "transfer.accepted": (facts) => `The transfer of ${id(facts)} is complete. The recipient owns it now.`,
  "transfer.deleted": (facts) => `The transfer of ${id(facts)} was cancelled. The sender keeps the id.`,
  "transfer.expired": (facts) => `The transfer of ${id(facts)} expired. The sender keeps the id.`,
  "lootbox.owned": () => "A lootbox was bought.",
  "lootbox.opened": (facts) => `A lootbox was opened: ${counted(facts.length("emoji_ids"), "id")}.`,
  "lootbox.returned": () => "A lootbox was taken back after a refund.",
  "session.verified": () => "A user entered a correct two-factor code.",
  "session.two_factor_required": () => "A user signed in and must enter a two-factor code.",
  "session.two_factor_stale": () =>
    "The two-factor code of a session is too old. Sensitive actions need a new one.",
  "session.two_factor_locked": (facts) =>
    `Too many wrong two-factor codes. The account is locked until ${when(facts.text("locked_until"))}.`,
  "session.logged_out": (facts) => loggedOut[facts.text("reason")] ?? "A session of a user was ended.",
  "interest.available": (facts) => `A user was told that ${id(facts)} is available.`,
  "emoji_id.registered": (facts) => `${id(facts)} was registered.`,
  "emoji_id.owner": (facts) => `${id(facts)} has a new owner.`,
  "emoji_id.records": records,
  "emoji_id.minted": (facts) =>
    facts.is("minted") ? `${id(facts)} was minted as a token.` : `The token of ${id(facts)} was destroyed.`,
  "emoji_id.released": (facts) => `${id(facts)} was removed from the directory.`,
  "emoji_ids.changed": (facts) => `The owner of ${id(facts)} was told that it was changed.`,
  "market.purchased": (facts) => `${id(facts)} was bought.`,
  "market.released": (facts) => `${id(facts)} is for sale again.`,
}

/** Describes an event in one sentence. An unknown event, for example of a newer release, is shown with its name. */
export const sentenceOf = ({ data, event }: RecentEvent): string => {
  const sentence = sentences[event]?.(new Facts(data)) ?? `${event.replaceAll(/[._]/g, " ")}.`
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}
