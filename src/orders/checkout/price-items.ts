import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { OrderItem } from "../../../machines/orders/context.ts"
import { type EmojiId, parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import { NotFound, type Unavailable, type Unprocessable, UnsupportedEmoji } from "../../../schema/errors.ts"
import { lootboxKey } from "../../../schema/lootboxes/lootbox.ts"
import { Lootboxes } from "../../lootboxes/lootboxes.ts"
import { Market, type Price } from "../../market/market.ts"
import { idItem, ineligible, type WantedItem } from "../cart/items.ts"
import type { Seen } from "../order-store.ts"

const whyNot = ({ availability, id, priceCents }: Price): string | undefined => {
  if (availability === "Taken") return `${id.canonical} is already taken.`
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

/** Prices the items of carts. */
export class ItemPrices extends Context.Service<
  ItemPrices,
  {
    /**
     * Creates priced items from a request. An id that another order holds can be added to a cart, because the hold
     * can expire. A taken id cannot be added.
     */
    wanted(
      wanted: ReadonlyArray<WantedItem>,
      at: string,
      seen: Seen,
    ): Effect.Effect<ReadonlyArray<OrderItem>, NotFound | Unavailable | Unprocessable | UnsupportedEmoji>
    /** Prices the items of a cart again. If the price of an item changed, the item also stores its previous price. */
    again(
      items: ReadonlyArray<OrderItem>,
      at: string,
    ): Effect.Effect<ReadonlyArray<OrderItem>, Unavailable | Unprocessable | UnsupportedEmoji>
    /**
     * Whether the current price of a lootbox differs from the price of its item. The caller calls this after the order
     * holds the lootboxes, because then their contents and prices cannot change.
     */
    hasChangedBoxes(items: ReadonlyArray<OrderItem>): Effect.Effect<boolean, Unavailable>
  }
>()("directory/ItemPrices") {
  static readonly layer = Layer.effect(
    ItemPrices,
    Effect.gen(function* () {
      const market = yield* Market
      const boxes = yield* Lootboxes

      const priced = Effect.fnUntracedEager(function* (
        texts: ReadonlyArray<string>,
        heldAs: Parameters<typeof market.price>[1],
      ) {
        const prices = yield* market.price(yield* parseIds(texts), heldAs)
        const refusals = prices.map(whyNot).filter((why) => why !== undefined)
        return refusals.length > 0 ? yield* ineligible(refusals) : prices
      })

      return ItemPrices.of({
        wanted: Effect.fnUntracedEager(function* (wanted, at, { held }) {
          const texts = wanted.filter((item) => "emoji_id" in item).map((item) => item.emoji_id)
          const prices = yield* priced(texts, (id) => held.get(id.canonical)?.kind)
          const items = prices.map((price) => idItem(price, at))
          for (const item of wanted) {
            if (!("lootbox_id" in item)) continue
            const lootboxId = item.lootbox_id.toLowerCase()
            const offer = yield* boxes.findOffer(lootboxId)
            if (offer === undefined)
              return yield* new NotFound({ error: "Lootbox not found, or not for sale." })
            items.push({
              id: randomUUID(),
              type: "LootBox",
              claim: lootboxKey(lootboxId),
              lootboxId,
              cents: offer.priceCents,
              createdAt: at,
              updatedAt: at,
            })
          }
          return items
        }),
        again: Effect.fnUntracedEager(function* (items, at) {
          const texts = items.map(({ emojiId }) => emojiId).filter((text) => text !== undefined)
          // The claims on the ids are not read here, because the commit of the checkout checks them.
          const prices = yield* priced(texts, () => undefined)
          const centsOf = new Map(prices.map(({ id, priceCents }) => [id.canonical, priceCents]))
          const quoted: Array<OrderItem> = []
          for (const item of items) {
            const offer = item.lootboxId === undefined ? undefined : yield* boxes.findOffer(item.lootboxId)
            const cents = centsOf.get(item.claim ?? "") ?? offer?.priceCents ?? item.cents
            if (cents === item.cents && item.previousCents === undefined) {
              quoted.push(item)
              continue
            }
            const { previousCents: _, ...same } = item
            quoted.push(
              cents === item.cents ? same : { ...same, cents, previousCents: item.cents, updatedAt: at },
            )
          }
          return quoted
        }),
        hasChangedBoxes: Effect.fnUntracedEager(function* (items) {
          for (const { cents, lootboxId } of items) {
            const offer = lootboxId === undefined ? undefined : yield* boxes.findOffer(lootboxId)
            if (offer !== undefined && offer.priceCents !== cents) return true
          }
          return false
        }),
      })
    }),
  )
}
