import { Effect } from "effect"
import type { ItemRelease, KeptReason, OrderContext, OrderItem } from "../../../machines/orders/context.ts"
import { type RefundMade, refundedNow } from "../../../machines/orders/releases.ts"
import { Lootboxes } from "../../lootboxes/lootboxes.ts"
import { makeReleaseStore } from "./release-store.ts"

/**
 * Makes a function that decides, for each item that a refund completes, whether its id or lootbox is released. The
 * commit checks the decision again and fails if it is outdated.
 */
export const makeDecideReleases = Effect.gen(function* () {
  const store = yield* makeReleaseStore
  const boxes = yield* Lootboxes

  const keptBox = Effect.fnUntraced(function* ({ id, userId }: OrderContext, lootboxId: string) {
    const sale = yield* boxes.findSale(lootboxId)
    if (sale?.orderId !== id || sale.ownerId !== userId) return "not_owned"
    return sale.status === "Owned" ? undefined : "opened"
  })

  return Effect.fnUntraced(function* (order: OrderContext, event: RefundMade) {
    const { items, kept: keptAll } = refundedNow(order, event)
    const ids = items.flatMap(({ claim, type }) => (type === "EmojiId" && claim !== undefined ? [claim] : []))
    const keptIds =
      keptAll === undefined && ids.length > 0
        ? yield* store.findKept(order.id, order.userId, ids)
        : new Map<string, KeptReason | undefined>()
    const release = Effect.fnUntraced(function* ({ claim = "", id, lootboxId }: OrderItem) {
      const kept: KeptReason | undefined =
        keptAll ?? (lootboxId === undefined ? keptIds.get(claim) : yield* keptBox(order, lootboxId))
      const one: ItemRelease = kept === undefined ? { itemId: id } : { itemId: id, kept }
      return one
    })
    return yield* Effect.forEach(items, release)
  })
})
