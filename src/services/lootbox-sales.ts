import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"

export interface LootboxOffer {
  readonly lootboxId: string
  readonly priceCents: number
}

/**
 * What an order claims of a box. While an order holds it, a turn of the box that claims it for the box itself is
 * refused, and the other way round: so a box is sold or given away, never both.
 */
export const lootboxClaim = (lootboxId: string): string => `lootbox:${lootboxId}`

/** How orders sell boxes without knowing them. */
export class LootboxSales extends Context.Service<
  LootboxSales,
  {
    /** Undefined: there is no such box, or it is not for sale. */
    find(lootboxId: string): Effect.Effect<LootboxOffer | undefined, Unavailable>
    /**
     * The box becomes the buyer's. Repeated until it succeeds, also after a crash: of a box that is this buyer's
     * already it must do nothing.
     */
    handOver(sale: {
      readonly lootboxId: string
      readonly ownerId: string
      readonly orderId: string
    }): Effect.Effect<void, Unavailable>
  }
>()("directory/LootboxSales") {
  static readonly none = Layer.succeed(
    LootboxSales,
    LootboxSales.of({ find: () => Effect.succeed(undefined), handOver: () => Effect.void }),
  )
}
