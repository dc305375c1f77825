import type { ChannelEvent, JoinedEvent, Revoke } from "../../schema/turn.ts"
import { type Event, refundSettled } from "./changes.ts"
import type { KeptReason, OrderContext, OrderItem } from "./context.ts"
import { isComplete, isPaidBack } from "./money.ts"

/** Functions about the ids and lootboxes that a refund takes back. */

export type RefundMade = Event<"refund.made">

/**
 * The items whose refund this event completes. An item that was refunded in part before is one of them. `kept` is set if
 * all of them stay with the buyer: the administrator asked for it, or the refund does not return their whole price.
 */
export const refundedNow = (
  order: OrderContext,
  event: RefundMade,
): { readonly items: ReadonlyArray<OrderItem>; readonly kept: KeptReason | undefined } => {
  const after = refundSettled(order, event)
  const refund = after.refunds.find(({ id }) => id === event.refundId)
  const isOpen = ({ kept, refunded }: OrderItem) => refunded !== true || kept === "partially_refunded"
  const items =
    refund === undefined || !isComplete(after, refund)
      ? []
      : order.items.filter(
          (item) =>
            refund.itemIds.includes(item.id) &&
            isOpen(item) &&
            item.type !== "Discount" &&
            item.released === undefined,
        )
  const kept =
    refund?.releases !== true
      ? "requested"
      : isPaidBack(after, refund.itemIds)
        ? undefined
        : "partially_refunded"
  return { items, kept }
}

const released = (order: OrderContext, { releases = [] }: RefundMade): ReadonlyArray<OrderItem> => {
  const ids = new Set(releases.filter(({ kept }) => kept === undefined).map(({ itemId }) => itemId))
  return order.items.filter(({ id }) => ids.has(id))
}

const releasedIds = (order: OrderContext, event: RefundMade): ReadonlyArray<string> =>
  released(order, event).flatMap(({ claim, type }) =>
    type === "EmojiId" && claim !== undefined ? [claim] : [],
  )

export const revokes = (order: OrderContext, event: RefundMade): ReadonlyArray<Revoke> =>
  releasedIds(order, event).map((canonical) => ({
    canonical,
    owner_id: order.userId,
    source: `order:${order.id}`,
  }))

export const revokeEvents = (order: OrderContext, event: RefundMade): ReadonlyArray<ChannelEvent> =>
  releasedIds(order, event).flatMap((emoji_id) => [
    { channel: `emoji_id:${emoji_id}`, type: "emoji_id.released", data: { emoji_id } },
    { channel: "market", type: "market.released", data: { emoji_id } },
  ])

/** The events that take unopened lootboxes back, in the commit that completes their refund. */
export const boxReturns = (order: OrderContext, event: RefundMade): ReadonlyArray<JoinedEvent> =>
  released(order, event).flatMap(({ claim = "", lootboxId }) =>
    lootboxId === undefined
      ? []
      : [
          {
            entity: "lootbox",
            id: lootboxId,
            claim,
            event: {
              type: "RETURN",
              now: Date.parse(event.at),
              orderId: order.id,
              buyerId: order.userId,
            },
          },
        ],
  )
