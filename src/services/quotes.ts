import { Context, Effect, Layer } from "effect"
import type { EmojiId } from "../../schema/emoji-id.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { Sql } from "../store/sql.ts"
import { defaultPriceParameters, priceInCents } from "./pricing.ts"
import { rhythmScore } from "./rhythm.ts"

export interface Quote {
  readonly id: EmojiId
  readonly availability: "Available" | "Taken" | "InCart" | "ComingSoon" | "NoPrice"
  readonly priceCents: number | null
  readonly rhythmScore: number
}

/** What ids cost and whether they can be had. */
export class Quotes extends Context.Service<
  Quotes,
  { quote(ids: ReadonlyArray<EmojiId>): Effect.Effect<ReadonlyArray<Quote>, Unavailable> }
>()("directory/Quotes") {
  static readonly layer = Layer.effect(
    Quotes,
    Effect.gen(function* () {
      const sql = yield* Sql
      return Quotes.of({
        quote: Effect.fnUntraced(function* (ids) {
          const rows = yield* sql.rows<{ canonical: string; kind: string }>(
            (q) => q`select canonical, kind from claim where canonical = any(${ids.map((id) => id.canonical)})`,
          )
          const held = new Map(rows.map(({ canonical, kind }) => [canonical, kind]))
          return ids.map((id): Quote => {
            const kind = held.get(id.canonical)
            const score = rhythmScore(id)
            return {
              id,
              availability: kind === undefined ? "Available" : kind === "order" ? "InCart" : "Taken",
              priceCents: priceInCents(score, defaultPriceParameters),
              rhythmScore: score,
            }
          })
        }),
      })
    }),
  )
}
