import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { route } from "../http/route.ts"
import { Market } from "./market.ts"
import { MarketParameters } from "./market-parameters.ts"

const readPrices = route({
  id: "readPriceParameters",
  group: "prices",
  summary: "Get the prices per rhythm score and the lengths that are not for sale",
  description:
    "The price of an id in US cents follows from its rhythm score. The parameters contain the price per score, and the lengths that are not for sale.",
  method: "get",
  path: "/price_parameters",
  auth: "apiKey",
  scope: "adminPriceParameters:read",
  success: MarketParameters,
  errors: [],
  handler: () => Market.use((market) => market.parameters),
})

const writePrices = route({
  id: "writePriceParameters",
  group: "prices",
  summary: "Set the prices and the lengths that are not for sale",
  description: "Replaces all parameters. They apply from the next search and checkout on.",
  method: "put",
  path: "/price_parameters",
  auth: "apiKey",
  scope: "adminPriceParameters:write",
  body: MarketParameters,
  success: MarketParameters,
  errors: [],
  handler: ({ body }) => Effect.as(atMostOnce(Market.use((market) => market.setParameters(body))), body),
})

export const prices = [readPrices, writePrices] as const
