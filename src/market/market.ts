import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import { rhythmScore } from "../../schema/directory/rhythm-score.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { priceInCents } from "../../schema/market/price-curve.ts"
import type { Availability } from "../../schema/market/search-result.ts"
import { Bus } from "../cluster/bus.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { defaultMarketParameters, heldBackBy, lengthOf, type MarketParameters } from "./market-parameters.ts"
import { type HeldRow, makeMarketStore } from "./market-store.ts"

export interface Price {
  readonly id: EmojiId
  readonly availability: Availability
  /** The price in US cents, also for a registered id. Null if ids of this length have no price. */
  readonly priceCents: number | null
  readonly rhythmScore: number
}
export interface Quote extends Price {
  readonly available: boolean
  readonly minted: boolean
  /** Undefined for an id that is not registered. */
  readonly generation: number | undefined
}

const topic = "price_parameters"

const availabilityOf = (
  id: EmojiId,
  heldAs: HeldRow["kind"] | undefined,
  parameters: MarketParameters,
): Availability => {
  if (heldAs !== undefined) return heldAs === "order" ? "InCart" : "Taken"
  if (parameters.coming_soon_lengths.includes(id.length)) return "ComingSoon"
  return parameters.unpriced_lengths.includes(id.length) ? "NoPrice" : "Available"
}

/** Calculates the prices and the availability of ids. */
export class Market extends Context.Service<
  Market,
  {
    /** Reads the current claims of the ids and returns one quote per id, in the same order. */
    quote(ids: ReadonlyArray<EmojiId>): Effect.Effect<ReadonlyArray<Quote>, Unavailable>
    /**
     * Returns one price per id, in the same order, for a caller that already knows the claims. `heldAs` returns the
     * kind of the claim, or undefined for an unclaimed id.
     */
    price(
      ids: ReadonlyArray<EmojiId>,
      heldAs: (id: EmojiId) => HeldRow["kind"] | undefined,
    ): Effect.Effect<ReadonlyArray<Price>, Unavailable>
    readonly parameters: Effect.Effect<MarketParameters, Unavailable>
    /** Reads the parameters from the database, not from memory. */
    readonly storedParameters: Effect.Effect<MarketParameters, Unavailable>
    /**
     * Stores new parameters. If the new parameters put an id on sale, users with an interest in this id are notified.
     */
    setParameters(
      parameters: MarketParameters,
    ): Effect.Effect<Written<WriteOutcome<unknown, undefined>>, Unavailable>
  }
>()("directory/Market") {
  static readonly layer = Layer.effect(
    Market,
    Effect.gen(function* () {
      const store = yield* makeMarketStore
      const bus = yield* Bus
      let known: MarketParameters | undefined
      let generation = 0
      bus.onInvalidate(topic, () => {
        generation++
        known = undefined
      })

      // The defaults are stored at the first start, so that a later release with other defaults does not change the
      // prices.
      yield* store.insertParameters(defaultMarketParameters)

      const read = Effect.gen(function* () {
        const startedAt = generation
        const parameters = (yield* store.findParameters()) ?? defaultMarketParameters
        if (startedAt === generation && !bus.isMarked(topic, "all")) known = parameters
        return parameters
      })
      const currentParameters = () => (known !== undefined && bus.mayServe() ? Effect.succeed(known) : read)

      const price = Effect.fnUntracedEager(function* (
        ids: ReadonlyArray<EmojiId>,
        heldAs: (id: EmojiId) => HeldRow["kind"] | undefined,
      ) {
        const current = yield* currentParameters()
        return ids.map((id): Price => {
          const score = rhythmScore(id)
          const isPriced = !current.unpriced_lengths.includes(id.length)
          return {
            id,
            availability: availabilityOf(id, heldAs(id), current),
            priceCents: isPriced ? priceInCents(score, current.points) : null,
            rhythmScore: score,
          }
        })
      })

      const quote = Effect.fnUntraced(function* (ids: ReadonlyArray<EmojiId>) {
        if (ids.length === 0) return []
        const held = yield* store.findHeld(ids.map(({ canonical }) => canonical))
        const prices = yield* price(ids, ({ canonical }) => held.get(canonical)?.kind)
        return prices.map((one): Quote => {
          const row = held.get(one.id.canonical)
          return {
            ...one,
            available: one.availability === "Available",
            minted: row?.minted ?? false,
            generation: row?.generation ?? undefined,
          }
        })
      })

      /** Returns the ids that the new parameters put on sale and in which a user has an interest. */
      const findReleased = Effect.fnUntraced(function* (given: MarketParameters) {
        const heldBack = heldBackBy(given)
        const lengths = heldBackBy(yield* read).filter((length) => !heldBack.includes(length))
        if (lengths.length === 0) return []
        const wanted = yield* store.findWantedIds()
        return wanted.flatMap(({ canonical }) => (lengths.includes(lengthOf(canonical)) ? [canonical] : []))
      })

      return Market.of({
        quote,
        price,
        parameters: Effect.suspend(currentParameters),
        storedParameters: read,
        setParameters: Effect.fnUntraced(function* (given) {
          const released = yield* findReleased(given)
          return yield* store.putParameters(given, released).pipe(bus.invalidating({ [topic]: ["all"] }))
        }),
      })
    }),
  )
}
