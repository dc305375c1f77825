import { Effect, Schema } from "effect"
import { checkEmojiId } from "../../schema/directory/check-emoji-id.ts"
import { maxEmojiPerId } from "../../schema/directory/emoji-id.ts"
import { type InvalidRequest, invalidValue, UnsupportedEmoji } from "../../schema/errors.ts"
import { RandomResult, RecentlyPurchasedResult, SearchResult } from "../../schema/market/search-result.ts"
import { IntText } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import { maxPriceCents, type Range } from "./pricing.ts"
import { Storefront } from "./storefront.ts"

const group = "market"
const shownAtRandom = 10

/** Reads two query parameters as the bounds of a range. A missing parameter is no bound. */
const readRange = <Low extends string, High extends string>(
  query: Readonly<Partial<Record<Low | High, string>>>,
  low: Low,
  high: High,
): Effect.Effect<Range, InvalidRequest> => {
  const [least, most] = [query[low], query[high]]
  const range = {
    least: least === undefined ? undefined : Number(least),
    most: most === undefined ? undefined : Number(most),
  }
  return range.least !== undefined && range.most !== undefined && range.least > range.most
    ? Effect.fail(invalidValue("query", high, `${high} must not be less than ${low}.`))
    : Effect.succeed(range)
}

const random = route({
  id: "random",
  group,
  summary: "List random emoji ids that are for sale",
  description:
    "Each result has its price, and can be bought now. `min_length`, `max_length`, `min_price` and `max_price` (US cents) limit the results. There are fewer results than `limit` if few ids are within the limits.",
  method: "get",
  path: "/emoji_id/random",
  auth: "JWT",
  query: {
    limit: Schema.optionalKey(IntText(1, 50)),
    min_length: Schema.optionalKey(IntText(1, maxEmojiPerId)),
    max_length: Schema.optionalKey(IntText(1, maxEmojiPerId)),
    min_price: Schema.optionalKey(IntText(0, maxPriceCents)),
    max_price: Schema.optionalKey(IntText(0, maxPriceCents)),
  },
  success: RandomResult,
  errors: [],
  handler: ({ query }) =>
    Effect.gen(function* () {
      const length = yield* readRange(query, "min_length", "max_length")
      const price = yield* readRange(query, "min_price", "max_price")
      const count = Number(query.limit ?? shownAtRandom)
      return { result: yield* Storefront.use((storefront) => storefront.random(count, { length, price })) }
    }),
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
