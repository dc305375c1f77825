import { Effect, Schema } from "effect"
import { checkEmojiId } from "../../schema/directory/check-emoji-id.ts"
import { UnsupportedEmoji } from "../../schema/errors.ts"
import { RandomResult, RecentlyPurchasedResult, SearchResult } from "../../schema/market/search-result.ts"
import { IntText } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import { Storefront } from "./storefront.ts"

const group = "market"
const shownAtRandom = 10

const random = route({
  id: "random",
  group,
  summary: "List random emoji ids that are for sale",
  description: "Each result has its price, and can be bought now.",
  method: "get",
  path: "/emoji_id/random",
  auth: "JWT",
  query: { limit: Schema.optionalKey(IntText(1, 50)) },
  success: RandomResult,
  errors: [],
  handler: ({ query }) =>
    Storefront.use((storefront) =>
      Effect.map(storefront.random(Number(query.limit ?? shownAtRandom)), (result) => ({ result })),
    ),
})

const recent = route({
  id: "recent",
  group,
  summary: "List recently purchased emoji ids, newest first",
  description:
    "Returns the newest purchases of the whole directory. The live channel `market` reports new ones.",
  method: "get",
  path: "/emoji_id/recent",
  auth: "JWT",
  success: RecentlyPurchasedResult,
  errors: [],
  handler: () => Storefront.use((storefront) => Effect.map(storefront.recent, (result) => ({ result }))),
})

const search = route({
  id: "searchEmojiID",
  group,
  summary: "Get the price and availability of an emoji id, and available alternatives",
  description:
    "Works for every valid id, registered or not. `availability` says whether it can be bought now, and the alternatives are similar ids that can be bought.",
  method: "get",
  path: "/emoji_id/search",
  auth: "JWT",
  query: { emoji_id: Schema.String },
  success: SearchResult,
  errors: [UnsupportedEmoji],
  handler: ({ query }) =>
    Effect.flatMap(checkEmojiId(query.emoji_id), (id) =>
      Storefront.use((storefront) => storefront.search(id)),
    ),
})

export const storefront = [random, recent, search] as const
