import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import type { OrderContext, OrderInput, OrderItem } from "../../machines/order-context.ts"
import { type EmojiId, parseEmojiId } from "../../schema/emoji-id.ts"
import { type FieldIssue, NotFound, Unprocessable, UnsupportedEmoji } from "../../schema/errors.ts"
import { lootboxKey } from "../../schema/lootbox.ts"
import { maxCartItems } from "../../schema/order.ts"
import type { NewestCart, Seen } from "../store/orders.ts"
import { Lootboxes } from "./lootboxes.ts"
import { Market, type Price } from "./market.ts"
import { uuidOf } from "./run-id.ts"

type WantedItem = { readonly emoji_id: string } | { readonly lootbox_id: string }

export const ineligible = (messages: ReadonlyArray<string>, details?: Readonly<Record<string, unknown>>) =>
  new Unprocessable({
    error: messages.join(" "),
    fields: { eid: messages.map((message): FieldIssue => ({ code: "eligibility", message })) },
    ...(details === undefined ? {} : { details }),
  })

const whyNot = ({ availability, id, priceCents }: Price): string | undefined => {
  if (availability === "Taken") return `${id.canonical} is taken.`
  if (availability === "ComingSoon") return `${id.canonical} is not on sale yet.`
  return priceCents === null ? `${id.canonical} has no price.` : undefined
}

const parseIds = Effect.fnUntracedEager(function* (texts: ReadonlyArray<string>) {
  const ids: Array<EmojiId> = []
  for (const text of texts) {
    const id = parseEmojiId(text)
    if (id._tag === "EmojiIdRefused") return yield* new UnsupportedEmoji({ error: id.message })
    ids.push(id)
  }
  return ids
})

/** The claims a request is about, to be looked at with the cart. */
export const claimsOf = (wanted: ReadonlyArray<WantedItem>): ReadonlyArray<string> =>
  wanted.flatMap((item) => {
    if ("lootbox_id" in item) return [lootboxKey(item.lootbox_id.toLowerCase())]
    const id = parseEmojiId(item.emoji_id)
    return id._tag === "EmojiId" ? [id.canonical] : []
  })

/** Quotes the wanted items at today's prices. An id held by somebody's checkout may wait in a cart; a taken one may not. */
export const quoteItems = Effect.fnUntraced(function* (
  wanted: ReadonlyArray<WantedItem>,
  at: string,
  { held }: Seen,
) {
  const ids = yield* parseIds(wanted.flatMap((item) => ("emoji_id" in item ? [item.emoji_id] : [])))
  const quotes = yield* Market.use((market) => market.price(ids, (id) => held.get(id.canonical)?.kind))
  const refusals = quotes.flatMap((quote) => whyNot(quote) ?? [])
  if (refusals.length > 0) return yield* ineligible(refusals)
  const base = { createdAt: at, updatedAt: at }
  const items: Array<OrderItem> = quotes.map(({ id, priceCents, rhythmScore }) => ({
    id: randomUUID(),
    type: "EmojiId",
    claim: id.canonical,
    emojiId: id.display(),
    cents: priceCents ?? 0,
    rhythmScore,
    ...base,
  }))
  for (const item of wanted) {
    if (!("lootbox_id" in item)) continue
    const lootboxId = item.lootbox_id.toLowerCase()
    const offer = yield* Lootboxes.use((boxes) => boxes.findOffer(lootboxId))
    if (offer === undefined) return yield* new NotFound({ error: "There is no such lootbox for sale." })
    items.push({
      id: randomUUID(),
      type: "LootBox",
      claim: lootboxKey(lootboxId),
      lootboxId,
      cents: offer.priceCents,
      ...base,
    })
  }
  return items
})

/** The same id twice is refused, whether in one request or in the cart already. */
export const checkAddable = (order: OrderContext, items: ReadonlyArray<OrderItem>) => {
  const seen = new Set(order.items.map(({ claim }) => claim))
  const repeated = items.filter(({ claim }) => seen.size === seen.add(claim).size)
  if (repeated.length > 0) {
    return ineligible(repeated.map((item) => `${item.emojiId ?? "The lootbox"} is in the cart already.`))
  }
  if (order.items.length + items.length <= maxCartItems) return Effect.void
  return new Unprocessable({
    error: `A cart has at most ${maxCartItems} items.`,
    fields: { items: [{ code: "too_many", message: `at most ${maxCartItems}` }] },
  })
}

/** The items at today's prices; one whose price changed remembers what it was. */
export const requote = Effect.fnUntraced(function* (items: ReadonlyArray<OrderItem>, at: string) {
  const ids = yield* parseIds(items.flatMap(({ emojiId }) => (emojiId === undefined ? [] : [emojiId])))
  // Who holds them is the claims' to say, in the very statement that wants them.
  const quotes = yield* Market.use((market) => market.price(ids, () => undefined))
  const refusals = quotes.flatMap((quote) => whyNot(quote) ?? [])
  if (refusals.length > 0) return yield* ineligible(refusals)
  const byClaim = new Map(quotes.map((quote) => [quote.id.canonical, quote]))
  const requoted: Array<OrderItem> = []
  for (const item of items) {
    const { lootboxId, previousCents: _, ...rest } = item
    const offer =
      lootboxId === undefined ? undefined : yield* Lootboxes.use((boxes) => boxes.findOffer(lootboxId))
    const cents = byClaim.get(item.claim ?? "")?.priceCents ?? offer?.priceCents ?? item.cents
    const same = lootboxId === undefined ? rest : { ...rest, lootboxId }
    requoted.push(cents === item.cents ? same : { ...same, cents, previousCents: item.cents, updatedAt: at })
  }
  return requoted
})

/**
 * The cart after this one. Its id follows from the order before it, so two requests that begin it at once begin the same
 * one, and reading a cart that was never written to writes nothing. What ran out of time is offered again.
 */
export const nextCart = (
  userId: string,
  { order, paid }: Pick<NewestCart, "order" | "paid">,
  createdAt: string,
): OrderInput & { readonly items: ReadonlyArray<OrderItem> } => {
  const last = order?.context ?? paid
  const id = uuidOf("cart", userId, last?.id ?? "")
  const expired = order?.status === "Cancelled" && order.context.cancelled?.reason === "expired"
  // An id a code gave was not chosen: it is not offered for money afterwards.
  const carried = expired && order.context.checkout?.method !== "Free"
  const begunAt = last?.updatedAt ?? createdAt
  return {
    id,
    userId,
    createdAt: begunAt,
    items: carried
      ? order.context.items
          .filter((item) => item.type !== "Discount")
          .map(({ previousCents: _, ...item }) => ({
            ...item,
            id: uuidOf(id, item.id),
            createdAt: begunAt,
            updatedAt: begunAt,
          }))
      : [],
  }
}
