import { Context, Effect, Layer } from "effect"
import { type EmojiId, maxEmojiPerId, parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { shapeMatch } from "../../schema/directory/emoji-shape.ts"
import { viewsMetric } from "../../schema/directory/metric.ts"
import type { Unavailable } from "../../schema/errors.ts"
import type { MarketItem } from "../../schema/market/search-result.ts"
import { EmojiIds } from "../directory/id-store.ts"
import { DatabaseClock } from "../postgres/database-clock.ts"
import { Market, type Quote } from "./market.ts"
import { heldBackBy, type MarketParameters } from "./market-parameters.ts"
import { type Range, scoresPriced } from "./pricing.ts"
import { suggestionsFor } from "./suggestions.ts"
import { randomEmojiId } from "./suggestions-random.ts"

const shownSuggestions = 20
const shownRecent = 20
/**
 * The number of random ids that are generated per requested id. More ids are generated than requested, because some are
 * not for sale.
 */
const drawsPerShown = 3
/** Random ids have these lengths. Other lengths are used only if none of these is for sale. */
const usualLengths = { minLength: 3, maxLength: 5 }
const unavailableViews = -1

export interface OfferLimits {
  /** The number of emoji. */
  readonly length: Range
  /** The price in US cents. */
  readonly price: Range
}
const noLimits: OfferLimits = {
  length: { least: undefined, most: undefined },
  price: { least: undefined, most: undefined },
}

const toItem = (quote: Quote, views: number, nowMs: number): MarketItem => ({
  emoji_id: quote.id.canonical,
  availability: quote.availability,
  available: quote.available,
  flippable_emoji: quote.id.flippable,
  length: quote.id.length,
  minted: quote.minted,
  rhythm_score: quote.rhythmScore,
  shape: shapeMatch(quote.id),
  short_names: quote.id.shortNames,
  stats: [viewsMetric(quote.id, views, nowMs)],
  ...(quote.generation !== undefined && { generation: quote.generation }),
  ...(quote.priceCents !== null && { price: quote.priceCents }),
})

/** Lists ids for buyers: search results with alternatives, random ids, and recent purchases. */
export class Storefront extends Context.Service<
  Storefront,
  {
    search(
      id: EmojiId,
    ): Effect.Effect<{ result: MarketItem; alternates: ReadonlyArray<MarketItem> }, Unavailable>
    random(count: number, limits?: OfferLimits): Effect.Effect<ReadonlyArray<MarketItem>, Unavailable>
    readonly recent: Effect.Effect<ReadonlyArray<MarketItem>, Unavailable>
  }
>()("directory/Storefront") {
  static readonly layer = Layer.effect(
    Storefront,
    Effect.gen(function* () {
      const market = yield* Market
      const ids = yield* EmojiIds
      const clock = yield* DatabaseClock

      const offer = (quote: Quote) => toItem(quote, unavailableViews, clock.now())
      const withViews = Effect.fnUntraced(function* (quotes: ReadonlyArray<Quote>) {
        const views = yield* ids.views(quotes.map(({ id }) => id.canonical))
        return quotes.map((quote) =>
          toItem(quote, views.get(quote.id.canonical) ?? unavailableViews, clock.now()),
        )
      })

      const draw = (
        count: number,
        { length, price }: OfferLimits,
        parameters: MarketParameters,
      ): ReadonlyArray<EmojiId> => {
        const drawn = new Map<string, EmojiId>()
        const scores = scoresPriced(price, parameters.points)
        if (scores === undefined) return []
        const withoutLengths = heldBackBy(parameters)
        const random = (lengths: typeof usualLengths) =>
          randomEmojiId({ random: Math.random, ...lengths, ...scores, withoutLengths })
        const wanted = { minLength: length.least ?? 1, maxLength: length.most ?? maxEmojiPerId }
        const isAnyLength = length.least === undefined && length.most === undefined
        for (let tries = 0; tries < count * drawsPerShown; tries++) {
          const id = (isAnyLength ? random(usualLengths) : undefined) ?? random(wanted)
          // Without a result, another try is unlikely to find an id within the limits.
          if (id === undefined) break
          drawn.set(id.canonical, id)
        }
        return [...drawn.values()]
      }

      return Storefront.of({
        search: Effect.fnUntraced(function* (id) {
          const [own, ...others] = yield* market.quote([id, ...suggestionsFor(id)])
          const [result] = own!.available ? [offer(own!)] : yield* withViews([own!])
          const alternates = others.filter(({ available }) => available).slice(0, shownSuggestions)
          return { result: result!, alternates: alternates.map(offer) }
        }),
        random: Effect.fnUntraced(function* (count, limits = noLimits) {
          const quotes = yield* market.quote(draw(count, limits, yield* market.parameters))
          return quotes
            .filter(({ available }) => available)
            .slice(0, count)
            .map(offer)
        }),
        recent: Effect.gen(function* () {
          const canonicals = yield* ids.recentlyPurchased(shownRecent)
          const found = canonicals.map(parseEmojiId).filter((id) => id._tag === "EmojiId")
          return yield* withViews(yield* market.quote(found))
        }),
      })
    }),
  )
}
