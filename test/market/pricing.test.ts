import { Result, Schema } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { priceInCents } from "../../schema/market/price-curve.ts"
import { defaultPriceParameters, PriceParameters } from "../../src/market/pricing.ts"

const decode = Schema.decodeUnknownResult(PriceParameters)

const priceParameters: fc.Arbitrary<PriceParameters> = fc
  .uniqueArray(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 12 })
  .chain((scores) => {
    const prices = fc.array(fc.nat({ max: 2_147_483_647 }), {
      minLength: scores.length,
      maxLength: scores.length,
    })
    return prices.map((amounts) => {
      const rising = amounts.toSorted((a, b) => a - b)
      return scores
        .toSorted((a, b) => a - b)
        .map((score, place) => ({ score, price_in_cents: rising[place]! }))
    })
  })

describe("the price", () => {
  it("is by default 400 cents for the lowest score and 340000 cents for score 99", () => {
    expect(priceInCents(1, defaultPriceParameters)).toBe(400)
    expect(priceInCents(99, defaultPriceParameters)).toBe(340_000)
    expect(priceInCents(100, defaultPriceParameters)).toBeGreaterThan(340_000)
  })

  it("is higher for every higher score with the default parameters", () => {
    for (let score = 2; score <= 100; score++) {
      const below = priceInCents(score - 1, defaultPriceParameters)
      expect(priceInCents(score, defaultPriceParameters)).toBeGreaterThan(below)
    }
  })

  it("is an integer, equals the price at each configured score, and never decreases with the score", () => {
    fc.assert(
      fc.property(priceParameters, (points) => {
        expect(Result.isSuccess(decode(points))).toBe(true)
        for (const { price_in_cents, score } of points)
          expect(priceInCents(score, points)).toBe(price_in_cents)
        for (let score = 1; score <= 100; score++) {
          expect(Number.isInteger(priceInCents(score, points))).toBe(true)
          if (score > 1)
            expect(priceInCents(score, points)).toBeGreaterThanOrEqual(priceInCents(score - 1, points))
        }
      }),
    )
  })

  it.each([
    ["no points", []],
    [
      "a decreasing price",
      [
        { score: 1, price_in_cents: 5 },
        { score: 2, price_in_cents: 4 },
      ],
    ],
    [
      "a duplicate score",
      [
        { score: 1, price_in_cents: 5 },
        { score: 1, price_in_cents: 6 },
      ],
    ],
    ["a fraction of a cent", [{ score: 1, price_in_cents: 0.5 }]],
    ["a negative price", [{ score: 1, price_in_cents: -1 }]],
    ["a score above 100", [{ score: 101, price_in_cents: 1 }]],
  ])("cannot be configured by parameters with %s", (_, points) => {
    expect(Result.isFailure(decode(points))).toBe(true)
  })
})
