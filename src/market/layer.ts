import { Layer } from "effect"
import { InterestNotices } from "./interest-notices.ts"
import { Interests } from "./interest-store.ts"
import { Market } from "./market.ts"
import { Storefront } from "./storefront.ts"

/** The services of the market: search, prices, recent purchases, and the interests of users in ids. */
export const market = Layer.mergeAll(InterestNotices.layer, Storefront.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Interests.layer, Market.layer)),
)
