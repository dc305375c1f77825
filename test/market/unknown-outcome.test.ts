import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { Unavailable } from "../../schema/errors.ts"
import { Bus } from "../../src/cluster/bus.ts"
import { AppConfig } from "../../src/config/read-config.ts"
import { Market } from "../../src/market/market.ts"
import type { MarketParameters } from "../../src/market/market-parameters.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { testConfig } from "../fixtures/service.ts"

/** Makes a database that commits a change of the parameters, but reports a failure, as if its response was lost. */
const forgetfulSql = () => {
  let parameters: unknown
  const rows = (statement: (q: never) => unknown) => {
    const { text, values } = statement(((
      strings: ReadonlyArray<string>,
      ...given: ReadonlyArray<string>
    ) => ({
      text: strings.join("?"),
      values: given,
    })) as never) as { text: string; values: ReadonlyArray<string> }
    if (text.startsWith("select parameters")) return Effect.succeed([{ parameters }])
    parameters = JSON.parse(values[0] ?? "")
    return text.includes("put_price_parameters")
      ? Effect.fail(new Unavailable({ error: "The database is not reachable.", retryAfterSeconds: 1 }))
      : Effect.succeed([])
  }
  return Layer.succeed(Sql, { rows, write: { rows } } as unknown as Sql["Service"])
}

it("price parameters are read from the database again after a write with an unknown outcome", async () => {
  const surroundings = Layer.mergeAll(
    forgetfulSql(),
    Bus.layer({ link: undefined, leaseMs: 2000, renewMs: 500, markMs: 10_000, statementMs: 1000 }),
    Layer.succeed(AppConfig, testConfig()),
  )
  const after = await Effect.runPromise(
    Effect.gen(function* () {
      const market = yield* Market
      const before = yield* market.parameters
      const given: MarketParameters = { ...before, unpriced_lengths: [1] }
      const failure = yield* Effect.flip(market.setParameters(given))
      expect(failure._tag).toBe("Unavailable")
      return yield* market.parameters
    }).pipe(Effect.provide(Layer.provide(Market.layer, surroundings))),
  )
  expect(after.unpriced_lengths).toEqual([1])
})
