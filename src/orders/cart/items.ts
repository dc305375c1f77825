import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import type { OrderContext, OrderInput, OrderItem } from "../../../machines/orders/context.ts"
import { isOfferedAgain } from "../../../machines/orders/effects.ts"
import { parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import { type FieldIssue, Unprocessable } from "../../../schema/errors.ts"
import { lootboxKey } from "../../../schema/lootboxes/lootbox.ts"
import { maxCartItems } from "../../../schema/orders/order.ts"
import type { Price } from "../../market/market.ts"
import { uuidOf } from "../../turns/operation-key.ts"
import type { NewestCart, Seen } from "../order-store.ts"

export type WantedItem = { readonly emoji_id: string } | { readonly lootbox_id: string }

export const ineligible = (messages: ReadonlyArray<string>, details?: Readonly<Record<string, unknown>>) =>
  new Unprocessable({
    error: messages.join(" "),
    fields: { eid: messages.map((message): FieldIssue => ({ code: "eligibility", message })) },
    ...(details === undefined ? {} : { details }),
  })

/** Creates the 422 error for items that are already claimed. The error lists each item with the reason. */
export const itemsUnavailable = (
  items: ReadonlyArray<OrderItem>,
  claims: ReadonlyArray<string>,
  { held }: Seen,
) => {
  const lost = items
    .filter(({ claim = "" }) => claims.includes(claim))
    .map(({ claim = "", emojiId, id }) => ({
      id,
      emoji_id: emojiId,
      marked_invalid_at: held.get(claim)?.at,
      marked_invalid_at_reason: held.get(claim)?.reason ?? "PendingPurchase",
    }))
  return ineligible(
    lost.map(({ emoji_id = "The lootbox", marked_invalid_at_reason }) =>
      marked_invalid_at_reason === "Taken"
        ? `${emoji_id} is already taken.`
        : `${emoji_id} is being bought by another user.`,
    ),
    { items: lost },
  )
}

/** Creates an order item from a priced id. */
export const idItem = ({ id, priceCents, rhythmScore }: Price, at: string): OrderItem => ({
  id: randomUUID(),
  type: "EmojiId",
  claim: id.canonical,
  emojiId: id.display(),
  cents: priceCents ?? 0,
  rhythmScore,
  createdAt: at,
  updatedAt: at,
})

/**
 * The claims of the requested items. Ids that are not valid are left out. The caller reads these claims together with
 * the cart.
 */
export const claimsOf = (wanted: ReadonlyArray<WantedItem>): ReadonlyArray<string> =>
  wanted
    .map((item) => {
      if ("lootbox_id" in item) return lootboxKey(item.lootbox_id.toLowerCase())
      const id = parseEmojiId(item.emoji_id)
      return id._tag === "EmojiId" ? id.canonical : undefined
    })
    .filter((claim) => claim !== undefined)

/**
 * Fails if an item is twice in the request or already in the cart, or if the cart would exceed its maximum number of
 * items.
 */
export const checkAddable = (order: OrderContext, items: ReadonlyArray<OrderItem>) => {
  const seen = new Set(order.items.map(({ claim }) => claim))
  const repeated = items.filter(({ claim }) => seen.size === seen.add(claim).size)
  if (repeated.length > 0) {
    return ineligible(repeated.map((item) => `${item.emojiId ?? "The lootbox"} is already in the cart.`))
  }
  if (order.items.length + items.length <= maxCartItems) return Effect.void
  return new Unprocessable({
    error: `A cart can contain at most ${maxCartItems} items. Remove some items first.`,
    fields: { items: [{ code: "too_many", message: `At most ${maxCartItems} items.` }] },
  })
}

/**
 * Computes the next cart of a user. Its id is derived from the id of the previous order, so concurrent requests create
 * the same cart, and a new cart can be shown without storing it. The items of an expired order, without its discounts,
 * are in the next cart again (see `isOfferedAgain`).
 */
export const nextCart = (
  userId: string,
  { order, paid }: Pick<NewestCart, "order" | "paid">,
  createdAt: string,
): OrderInput & { readonly items: ReadonlyArray<OrderItem> } => {
  const last = order?.context ?? paid
  const id = uuidOf("cart", userId, last?.id ?? "")
  const carried = order?.status === "Cancelled" && isOfferedAgain(order.context)
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
