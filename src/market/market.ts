import { Context, Effect, Layer, Schema } from "effect"
import { type EmojiId, parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { rhythmScore } from "../../schema/directory/rhythm-score.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { type Availability, heldBackLengths } from "../../schema/market/search-result.ts"
import { Bus } from "../cluster/bus.ts"
import { tellUncertain } from "../cluster/invalidate-after-unknown-outcome.ts"
import { AppConfig } from "../config/config.ts"
import { Sql } from "../postgres/sql.ts"
import { defaultPriceParameters, PriceParameters, priceInCents } from "./pricing.ts"

export const MarketParameters = Schema.Struct({ points: PriceParameters, ...heldBackLengths }).annotate({
  identifier: "MarketParameters",
})
export type MarketParameters = typeof MarketParameters.Type

export interface Price {
  readonly id: EmojiId
  readonly availability: Availability
  /** Null while the id has no price. A taken id keeps the price it would have. */
  readonly priceCents: number | null
  readonly rhythmScore: number
}
export interface Quote extends Price {
  readonly available: boolean
  readonly minted: boolean
  /** Of a registered id. */
  readonly generation: number | undefined
}

interface HeldRow {
  readonly canonical: string
  readonly kind: "owned" | "order" | "lootbox" | "transfer"
  readonly minted: boolean
  readonly generation: number | null
}

const topic = "price_parameters"
const defaults: MarketParameters = {
  points: defaultPriceParameters,
  coming_soon_lengths: [],
  unpriced_lengths: [],
}

const availabilityOf = (
  id: EmojiId,
  heldAs: HeldRow["kind"] | undefined,
  parameters: MarketParameters,
): Availability => {
  if (heldAs !== undefined) return heldAs === "order" ? "InCart" : "Taken"
  if (parameters.coming_soon_lengths.includes(id.length)) return "ComingSoon"
  return parameters.unpriced_lengths.includes(id.length) ? "NoPrice" : "Available"
}

/** Lengths that nobody can buy an id of. */
export const heldBackBy = ({
  coming_soon_lengths,
  unpriced_lengths,
}: MarketParameters): ReadonlyArray<number> => [...coming_soon_lengths, ...unpriced_lengths]

const lengthOf = (canonical: string): number => {
  const id = parseEmojiId(canonical)
  return id._tag === "EmojiId" ? id.length : 0
}

/** Of an id that nobody holds. */
export const isOnSale = (canonical: string, parameters: MarketParameters): boolean =>
  !heldBackBy(parameters).includes(lengthOf(canonical))

/** What ids cost and whether they can be had. */
export class Market extends Context.Service<
  Market,
  {
    /** One quote per id, in their order, as the claims stand now. */
    quote(ids: ReadonlyArray<EmojiId>): Effect.Effect<ReadonlyArray<Quote>, Unavailable>
    /** The same for a caller who knows the claims already. */
    price(
      ids: ReadonlyArray<EmojiId>,
      heldAs: (id: EmojiId) => HeldRow["kind"] | undefined,
    ): Effect.Effect<ReadonlyArray<Price>, Unavailable>
    readonly parameters: Effect.Effect<MarketParameters, Unavailable>
    /** Not from memory: as they stand after what the caller has read. */
    readonly storedParameters: Effect.Effect<MarketParameters, Unavailable>
    /** Whoever asked about an id that is on sale by them, and was not before, is told. */
    setParameters(parameters: MarketParameters): Effect.Effect<void, Unavailable>
  }
>()("directory/Market") {
  static readonly layer = Layer.effect(
    Market,
    Effect.gen(function* () {
      const sql = yield* Sql
      const bus = yield* Bus
      const { statementTimeoutMs } = yield* AppConfig
      let known: MarketParameters | undefined
      let generation = 0
      bus.onInvalidate(topic, () => {
        generation++
        known = undefined
      })

      // From now on these are the deployment's own: a later release with other defaults does not change its prices.
      yield* sql.rows(
        (q) => q`insert into price_parameters (parameters) values (${JSON.stringify(defaults)}::text::jsonb)
                 on conflict do nothing`,
      )

      const read = Effect.gen(function* () {
        const asked = generation
        const [row] = yield* sql.rows<{ parameters: MarketParameters }>(
          (q) => q`select parameters from price_parameters`,
        )
        const parameters = row?.parameters ?? defaults
        if (asked === generation) known = parameters
        return parameters
      })
      const currentParameters = () => (known !== undefined && bus.mayServe() ? Effect.succeed(known) : read)

      const findHeld = Effect.fnUntraced(function* (ids: ReadonlyArray<EmojiId>) {
        const canonicals = ids.map(({ canonical }) => canonical)
        const rows = yield* sql.rows<HeldRow>(
          (q) => q`select canonical, coalesce(c.kind, 'owned') as kind,
                          e.minted_at is not null as minted, e.generation
                     from (select * from claim where canonical = any(${canonicals})) c
                     full join (select * from emoji_id where canonical = any(${canonicals})) e using (canonical)`,
        )
        return new Map(rows.map((row) => [row.canonical, row]))
      })

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
        const held = yield* findHeld(ids)
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

      /** Ids somebody has asked about that are on sale from now on. */
      const findReleased = Effect.fnUntraced(function* (given: MarketParameters) {
        const heldBack = heldBackBy(given)
        const lengths = heldBackBy(yield* read).filter((length) => !heldBack.includes(length))
        if (lengths.length === 0) return []
        const wanted = yield* sql.rows<{ canonical: string }>(
          (q) => q`select distinct canonical from user_interest i
                    where not exists (select 1 from claim c where c.canonical = i.canonical)`,
        )
        return wanted.flatMap(({ canonical }) => (lengths.includes(lengthOf(canonical)) ? [canonical] : []))
      })

      return Market.of({
        quote,
        price,
        parameters: Effect.suspend(currentParameters),
        storedParameters: read,
        setParameters: Effect.fnUntraced(function* (given) {
          const released = yield* findReleased(given)
          const tell = bus.invalidate(topic, ["all"])
          yield* sql
            .rows(
              (q) => q`with p as (
                         insert into price_parameters as p (parameters) values (${JSON.stringify(given)}::text::jsonb)
                         on conflict (sole) do update
                            set parameters = excluded.parameters, version = p.version + 1, updated_at = now())
                       select put_freed(${released})`,
            )
            .pipe(
              Effect.tapError(() => tellUncertain(tell, statementTimeoutMs)),
              Effect.andThen(tell),
            )
        }),
      })
    }),
  )
}
